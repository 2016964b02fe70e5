"use strict";
// Meshes as they lie in the page: base64 of little-endian arrays, positions in 65,536 steps of a box that the meshes before
// and after share.

/** The numbers of a base64 text. */
function decode(text, Numbers) {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) {
    bytes[i] = binary.charCodeAt(i);
  }
  return new Numbers(bytes.buffer);
}

/**
 * One mesh: `positions` (3 a vertex, centred, within a circle or ball of radius 1), `offsets` (where a face's corners begin
 * in `indices`, one more than faces), `colors` (1 a face), `edges` (2 vertices each, every edge once).
 */
function readMesh(part, box) {
  const steps = decode(part.positions, Uint16Array);
  const sizes = decode(part.sizes, Uint16Array);
  const indices = decode(part.indices, part.wide ? Uint32Array : Uint16Array);
  const colors = decode(part.colors, Uint8Array);
  const vertices = steps.length / 3;

  const offsets = new Uint32Array(sizes.length + 1);
  sizes.forEach((size, face) => {
    offsets[face + 1] = offsets[face] + size;
  });
  const isWhole = vertices === part.vertices && sizes.length === part.faces && colors.length === part.faces
    && offsets[sizes.length] === indices.length && indices.every((index) => index < vertices);
  if (!isWhole) {
    throw new Error(`the mesh "${part.label}" is damaged`);
  }

  const positions = new Float32Array(steps.length);
  for (let i = 0; i < steps.length; i++) {
    const axis = i % 3;
    positions[i] = ((steps[i] / 65535 - 0.5) * box.size[axis]) / box.radius;
  }
  return { vertices, positions, offsets, indices, colors, edges: edgesOf(vertices, offsets, indices) };
}

/** Each edge of the faces once, as pairs of vertices. */
function edgesOf(vertices, offsets, indices) {
  const keys = new Float64Array(indices.length);
  for (let face = 0; face + 1 < offsets.length; face++) {
    const begin = offsets[face];
    const end = offsets[face + 1];
    for (let i = begin; i < end; i++) {
      const a = indices[i];
      const b = indices[i + 1 < end ? i + 1 : begin];
      keys[i] = Math.min(a, b) * vertices + Math.max(a, b);
    }
  }
  keys.sort();
  const edges = [];
  keys.forEach((key, i) => {
    if (i === 0 || key !== keys[i - 1]) {
      edges.push(Math.floor(key / vertices), key % vertices);
    }
  });
  return Uint32Array.from(edges);
}

/** Neighbours apart. */
const DISTINCT = ["#8ecae6", "#ffd38a", "#b7e4c7", "#f4a6a0", "#cdb4db", "#f6e7a1", "#9fb8e8", "#e6c9a8"]
  .map(fromHex);
/** Scales of colours from low to high. Quality: equal steps look equal, also to the colour-blind (the colour map viridis). */
const SCALES = {
  quality: ["#440154", "#433e85", "#31688e", "#21908c", "#35b779", "#90d743", "#fde725"].map(fromHex),
  size: ["#eef1f3", "#f5e6c0", "#f6cb7c", "#f0a648", "#e17d2c", "#bf5420"].map(fromHex),
};
const PLAIN = fromHex("#a9c3d9");

function fromHex(text) {
  return [1, 3, 5].map((i) => parseInt(text.slice(i, i + 2), 16));
}

/** Red, green and blue (0 to 255) of a face's colour number. */
function colorOf(palette, number) {
  if (palette === "distinct") {
    return DISTINCT[number % DISTINCT.length];
  }
  const scale = SCALES[palette];
  if (!scale) {
    return PLAIN;
  }
  const place = (number / 255) * (scale.length - 1);
  const below = Math.min(Math.floor(place), scale.length - 2);
  return scale[below].map((low, i) => Math.round(low + (scale[below + 1][i] - low) * (place - below)));
}
