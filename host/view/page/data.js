"use strict";
// Meshes as they lie in the page (host/view/src/packed.rs): base64 of deflated bytes. Numbers are differences from the
// one before, lowest bytes of all first; positions are in 65,536 steps of a box.

/** The bytes of an array of the page. */
async function inflate(text) {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) {
    bytes[i] = binary.charCodeAt(i);
  }
  const stream = new DecompressionStream("deflate");
  const writer = stream.writable.getWriter();
  // A damaged array is reported by the reader.
  writer.write(bytes).catch(() => undefined);
  writer.close().catch(() => undefined);
  const parts = [];
  let size = 0;
  for (const reader = stream.readable.getReader(); ;) {
    const { done, value } = await reader.read();
    if (done) {
      break;
    }
    parts.push(value);
    size += value.length;
  }
  const whole = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** Numbers from bytes in planes. */
function joined(bytes, width) {
  const count = bytes.length / width;
  const numbers = new Uint32Array(count);
  for (let k = 0; k < width; k++) {
    const plane = bytes.subarray(k * count, (k + 1) * count);
    for (let i = 0; i < count; i++) {
      numbers[i] |= plane[i] << (8 * k);
    }
  }
  return numbers;
}

const unzigzag = (number) => (number >>> 1) ^ -(number & 1);

/** Sums of differences. */
function summed(numbers) {
  let sum = 0;
  for (let i = 0; i < numbers.length; i++) {
    sum = (sum + unzigzag(numbers[i])) | 0;
    numbers[i] = sum;
  }
  return numbers;
}

const NONE = 0xffffffff;

/**
 * One mesh: `steps` and `positions` (3 a vertex; positions are centred, within a circle or ball of radius 1),
 * `triangles` (3 vertices each), `sides` (bits of the sides that are edges), `owners` and `behind` (elements on the
 * sides of each triangle), `segments` (2 vertices each), `centres` (3 an element), `fields`.
 */
async function readMesh(part, box, arrays) {
  const bytes = (id) => inflate(arrays[id]);
  const ids = async (id) => (id === null ? null : summed(joined(await bytes(id), 4)));
  const of = part.arrays;
  const mesh = { ...part };
  try {
    mesh.steps = new Uint16Array(3 * part.points);
    mesh.positions = new Float32Array(3 * part.points);
    for (let axis = 0; axis < 3; axis++) {
      const steps = summed(joined(await bytes(of.positions[axis]), 2));
      if (steps.length !== part.points) {
        throw new Error("points");
      }
      for (let v = 0; v < steps.length; v++) {
        mesh.steps[3 * v + axis] = steps[v];
        mesh.positions[3 * v + axis] = (mesh.steps[3 * v + axis] / 65535 - 0.5) * box.sizes[axis];
      }
    }
    mesh.triangles = await ids(of.triangles) ?? new Uint32Array(0);
    mesh.owners = await ids(of.owners);
    mesh.sides = of.sides === null ? null : await bytes(of.sides);
    mesh.segments = await ids(of.segments) ?? new Uint32Array(0);
    mesh.elementIds = await ids(of.elementIds);
    mesh.pointIds = await ids(of.pointIds);
    mesh.behind = of.behind === null ? null : joined(await bytes(of.behind), 4);
    mesh.behind?.forEach((number, t) => {
      mesh.behind[t] = number === 0 ? NONE : mesh.owners[t] + unzigzag(number - 1);
    });
    for (const field of mesh.fields) {
      field.values = valuesOf(field, await bytes(field.array));
      field.count = field.on === "points" ? mesh.points : mesh.elements;
    }
  } catch (reason) {
    throw new Error(`the mesh "${part.label}" is damaged (${reason.message})`);
  }
  const count = part.triangles;
  const within = (list, length, limit) => !list || (list.length === length && list.every((id) => id < limit || id === NONE));
  const isWhole = mesh.triangles.length === 3 * count && within(mesh.triangles, 3 * count, part.points)
    && within(mesh.owners, count, part.elements) && within(mesh.behind, count, part.elements)
    && within(mesh.segments, 2 * part.segments, part.points) && (!mesh.sides || mesh.sides.length === count)
    && mesh.fields.every((field) => field.values.length === field.components * field.count);
  if (!isWhole) {
    throw new Error(`the mesh "${part.label}" is damaged`);
  }
  mesh.isCloud = count === 0;
  if (mesh.owners && !mesh.fields.some(({ name, on }) => name === "distinct" && on === "elements")) {
    const field = { name: "distinct", on: "elements", components: 1, show: "distinct", count: mesh.elements };
    let values = null;
    Object.defineProperty(field, "values", { get: () => (values ??= numbersApart(mesh)) });
    mesh.fields.push(field);
  }
  return mesh;
}

function valuesOf(field, bytes) {
  switch (field.type) {
    case "whole":
      return new Int32Array(summed(joined(bytes, 4)).buffer);
    case "natural":
      return summed(joined(bytes, 4));
    case "single":
      return new Float32Array(joined(bytes, 4).buffer);
    case "parts": {
      const [low, high] = field.range;
      return Float32Array.from(bytes, (byte) => low + ((high - low) * byte) / 255);
    }
    default:
      return bytes;
  }
}

/** The element of a triangle. */
const ownerOf = (mesh, triangle) => (mesh.owners ? mesh.owners[triangle] : triangle);

/** The middle of each element: of the corners of its triangles. */
function centresOf(mesh) {
  if (mesh.isCloud) {
    return mesh.positions;
  }
  if (!mesh.centres) {
    const sums = new Float32Array(3 * mesh.elements);
    const counts = new Uint32Array(mesh.elements);
    for (let t = 0; 3 * t < mesh.triangles.length; t++) {
      for (const element of [ownerOf(mesh, t), mesh.behind ? mesh.behind[t] : NONE]) {
        if (element === NONE) {
          continue;
        }
        counts[element] += 3;
        for (let corner = 3 * t; corner < 3 * t + 3; corner++) {
          for (let axis = 0; axis < 3; axis++) {
            sums[3 * element + axis] += mesh.positions[3 * mesh.triangles[corner] + axis];
          }
        }
      }
    }
    mesh.centres = sums.map((sum, i) => sum / Math.max(counts[Math.floor(i / 3)], 1));
  }
  return mesh.centres;
}

/**
 * The edges of a mesh's faces, each once: `ends` (2 vertices each), and `of` (the edge on each side of the triangles;
 * NONE for sides within a face).
 */
function edgesOf(mesh) {
  if (!mesh.edges) {
    const { triangles, sides } = mesh;
    const of = new Uint32Array(triangles.length).fill(NONE);
    const ends = new Uint32Array(2 * triangles.length);
    // Open addressing, at most half full.
    const bits = Math.max(1, Math.ceil(Math.log2(2 * triangles.length + 1)));
    const table = new Uint32Array(2 ** bits).fill(NONE);
    let count = 0;
    for (let i = 0; i < triangles.length; i++) {
      const [t, k] = [Math.floor(i / 3), i % 3];
      if (sides && !(sides[t] & (1 << k))) {
        continue;
      }
      const [v, w] = [triangles[i], triangles[3 * t + ((k + 1) % 3)]];
      const [a, b] = [Math.min(v, w), Math.max(v, w)];
      let at = Math.imul(Math.imul(a, 0x9e3779b1) ^ b, 0x85ebca6b) >>> (32 - bits);
      while (table[at] !== NONE && (ends[2 * table[at]] !== a || ends[2 * table[at] + 1] !== b)) {
        at = (at + 1) % table.length;
      }
      if (table[at] === NONE) {
        table[at] = count;
        [ends[2 * count], ends[2 * count + 1]] = [a, b];
        count++;
      }
      of[i] = table[at];
    }
    mesh.edges = { ends: ends.slice(0, 2 * count), of };
  }
  return mesh.edges;
}

/** The ends of the edges of the triangles that are seen, each edge once. */
function seenEdges(mesh, seen) {
  if (mesh.isCloud) {
    return new Uint32Array(0);
  }
  const { ends, of } = edgesOf(mesh);
  const isSeen = new Uint8Array(ends.length / 2);
  for (const t of seen.triangles) {
    for (let side = 3 * t; side < 3 * t + 3; side++) {
      if (of[side] !== NONE) {
        isSeen[of[side]] = 1;
      }
    }
  }
  return ends.filter((_, i) => isSeen[i >> 1]);
}

/**
 * The visible part of a mesh behind a cut, `{ normal, place }` or nothing: `triangles`, and the `elements` that have
 * them. A triangle is seen where one of the elements on its sides stays and the other one does not. Of a cloud: its
 * points.
 */
function seenOf(mesh, cut) {
  const count = mesh.isCloud ? mesh.points : mesh.triangles.length / 3;
  const stays = new Uint8Array(mesh.elements).fill(1);
  if (cut) {
    const centres = centresOf(mesh);
    const [x, y, z] = cut.normal;
    for (let e = 0; e < mesh.elements; e++) {
      stays[e] = centres[3 * e] * x + centres[3 * e + 1] * y + centres[3 * e + 2] * z <= cut.place ? 1 : 0;
    }
  }
  const triangles = new Uint32Array(count);
  const elements = new Uint32Array(count);
  let seen = 0;
  for (let t = 0; t < count; t++) {
    const owner = mesh.isCloud ? t : ownerOf(mesh, t);
    const other = mesh.behind ? mesh.behind[t] : NONE;
    const othersStays = other === NONE ? 0 : stays[other];
    if (stays[owner] !== othersStays) {
      triangles[seen] = t;
      elements[seen] = stays[owner] ? owner : other;
      seen++;
    }
  }
  return { triangles: triangles.subarray(0, seen), elements: elements.subarray(0, seen) };
}
