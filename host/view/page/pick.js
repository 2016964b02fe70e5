// The element at a place of a picture, and words about it.

/** Pixels around a place in which a point of a cloud is found. */
const REACH = 6;

/** The element nearest to the viewer at x, y of a canvas of this size, and its nearest vertex; null beside the mesh. */
function pick(mesh, seen, frame, width, height, x, y) {
  const screen = project(mesh.positions, frame, width, height);
  let found = null;
  const consider = (i, depth) => {
    if (!found || depth < found.depth) {
      found = { element: seen.elements[i], triangle: seen.triangles[i], depth };
    }
  };
  if (mesh.isCloud) {
    seen.triangles.forEach((v, i) => {
      if (Math.hypot(screen[3 * v] - x, screen[3 * v + 1] - y) <= REACH) {
        consider(i, screen[3 * v + 2]);
      }
    });
    return found && { ...found, vertex: found.triangle };
  }
  const { triangles } = mesh;
  for (let i = 0; i < seen.triangles.length; i++) {
    const t = 3 * seen.triangles[i];
    const [a, b, c] = [3 * triangles[t], 3 * triangles[t + 1], 3 * triangles[t + 2]];
    const turn = (p, q) => (screen[p] - x) * (screen[q + 1] - y) - (screen[q] - x) * (screen[p + 1] - y);
    const [ofA, ofB, ofC] = [turn(b, c), turn(c, a), turn(a, b)];
    const sum = ofA + ofB + ofC;
    const isInside = (ofA >= 0 && ofB >= 0 && ofC >= 0) || (ofA <= 0 && ofB <= 0 && ofC <= 0);
    if (isInside && sum !== 0) {
      consider(i, (ofA * screen[a + 2] + ofB * screen[b + 2] + ofC * screen[c + 2]) / sum);
    }
  }
  if (!found) {
    return null;
  }
  const corners = [0, 1, 2].map((k) => triangles[3 * found.triangle + k]);
  const away = (v) => Math.hypot(screen[3 * v] - x, screen[3 * v + 1] - y);
  return { ...found, vertex: corners.reduce((best, v) => (away(v) < away(best) ? v : best)) };
}

/** What a reader wants to know of it. */
function describe(mesh, box, { element, vertex }) {
  const valuesAt = (on, i) => mesh.fields.filter((field) => field.on === on && field.show !== "distinct").map((field) => {
    const all = Array.from({ length: field.components }, (_, k) => field.values[k * field.count + i]);
    // A byte has two digits.
    const digits = field.type === "parts" ? 2 : 6;
    return `${field.name} ${worded(all, digits).join(", ")}`;
  });
  const place = [0, 1, 2].map((axis) => {
    const part = mesh.steps[3 * vertex + axis] / 65535;
    return box.low[axis] * (1 - part) + box.high[axis] * part;
  });
  const words = worded(place, Math.max(...[0, 1, 2].map((axis) => digitsOf(box.low[axis], box.high[axis]))));
  const id = (ids, i) => (ids ? ids[i] : i);
  const ofVertex = [`vertex ${id(mesh.pointIds, vertex)} at ${words.join(", ")}`, ...valuesAt("points", vertex)];
  if (mesh.isCloud) {
    return [...ofVertex, ...valuesAt("elements", element)].join(" · ").replace(/^vertex/, "point");
  }
  return [`${mesh.element} ${id(mesh.elementIds, element)}`, ...valuesAt("elements", element), ...ofVertex].join(" · ");
}
