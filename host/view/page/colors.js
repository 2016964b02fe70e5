// Colours of fields, and the legend's ticks.

/** Neighbours apart, and labels. */
const DISTINCT = ["#8ecae6", "#ffd38a", "#b7e4c7", "#f4a6a0", "#cdb4db", "#f6e7a1", "#9fb8e8", "#e6c9a8"]
  .map(fromHex);
/** From low to high. `scale`: equal steps look equal, also to the colour-blind (the colour map viridis). */
const SCALES = {
  scale: ["#440154", "#433e85", "#31688e", "#21908c", "#35b779", "#90d743", "#fde725"].map(fromHex),
  size: ["#eef1f3", "#f5e6c0", "#f6cb7c", "#f0a648", "#e17d2c", "#bf5420"].map(fromHex),
};
const PLAIN = fromHex("#a9c3d9");
/** Of a value that is no number, or not there. */
const MISSING = fromHex("#8a8f94");
const PICKED = fromHex("#ff6a00");

function fromHex(text) {
  return [1, 3, 5].map((i) => parseInt(text.slice(i, i + 2), 16));
}

/** A colour as the bytes of a pixel, whose alpha is 0. */
const packed = ([r, g, b]) => (b << 16) | (g << 8) | r;

/** A place from 0 to 1 on a scale as an opaque pixel: between corners the place changes evenly, not the colour. */
function placed(part) {
  const steps = Math.round(part * 65535);
  return ((255 << 24) | ((steps & 255) << 8) | (steps >> 8)) >>> 0;
}

/** 256 colours of a scale, four bytes each. */
function rampOf(palette) {
  const scale = SCALES[palette];
  return Uint8Array.from({ length: 1024 }, (_, i) => {
    const place = (Math.floor(i / 4) / 255) * (scale.length - 1);
    const below = Math.min(Math.floor(place), scale.length - 2);
    const [low, high] = [scale[below][i % 4], scale[below + 1][i % 4]];
    return i % 4 === 3 ? 255 : Math.round(low + (high - low) * (place - below));
  });
}

/** The value of an element or point: of a component, or of all of them (its length) for -1. */
function valueOf(field, i, component) {
  if (field.components === 1) {
    return field.values[i];
  }
  if (component >= 0) {
    return field.values[component * field.count + i];
  }
  let squares = 0;
  for (let k = 0; k < field.components; k++) {
    squares += field.values[k * field.count + i] ** 2;
  }
  return Math.sqrt(squares);
}

/** The least and the largest finite value of fields; nothing without one. */
function rangeOf(fields, component) {
  let [low, high] = [Infinity, -Infinity];
  for (const field of fields) {
    for (let i = 0; i < field.count; i++) {
      const value = valueOf(field, i, component);
      if (value < low && value !== -Infinity) {
        low = value;
      }
      if (value > high && value !== Infinity) {
        high = value;
      }
    }
  }
  return low <= high ? [low, high] : null;
}

/** The labels of fields, ascending. */
function labelsOf(fields) {
  return [...new Set(fields.flatMap((field) => [...new Set(field.values)]))].sort((a, b) => a - b);
}

/** The colour of each element or point of a field, or its place on the scale. */
function colorsOf(field, { palette, component, range, labels }) {
  const colors = new Uint32Array(field.count);
  if (palette === "colors") {
    const [r, g, b] = [0, 1, 2].map((k) => field.values.subarray(k * field.count, (k + 1) * field.count));
    return colors.map((_, i) => packed([r[i], g[i], b[i]]));
  }
  if (palette === "distinct") {
    return colors.map((_, i) => packed(DISTINCT[field.values[i] % DISTINCT.length]));
  }
  if (palette === "labels") {
    const of = new Map(labels.map((label, i) => [label, packed(DISTINCT[i % DISTINCT.length])]));
    return colors.map((_, i) => of.get(field.values[i]));
  }
  const [low, high] = range;
  const missing = packed(MISSING);
  const factor = high > low ? 1 / (high - low) : 0;
  for (let i = 0; i < colors.length; i++) {
    const part = (valueOf(field, i, component) - low) * factor;
    colors[i] = Number.isNaN(part) ? missing : placed(clamp(part, 0, 1));
  }
  return colors;
}

/** Pairs of elements that share a face, or on a surface an edge: one list of both. */
function neighbourPairs(mesh) {
  const pairs = [];
  if (mesh.behind) {
    mesh.behind.forEach((other, t) => other !== NONE && pairs.push(mesh.owners[t], other));
    return pairs;
  }
  const { ends, of } = edgesOf(mesh);
  const firsts = new Uint32Array(ends.length / 2).fill(NONE);
  of.forEach((edge, side) => {
    const element = mesh.owners[Math.floor(side / 3)];
    if (edge !== NONE && firsts[edge] === NONE) {
      firsts[edge] = element;
    } else if (edge !== NONE && firsts[edge] !== element) {
      pairs.push(firsts[edge], element);
    }
  });
  return pairs;
}

/** A number below 8 for each element; neighbours have others, but for an element with more than seven of them. */
function numbersApart(mesh) {
  const pairs = neighbourPairs(mesh);
  const begins = new Uint32Array(mesh.elements + 1);
  for (let i = 0; i < pairs.length; i += 2) {
    begins[Math.max(pairs[i], pairs[i + 1]) + 1]++;
  }
  for (let e = 0; e < mesh.elements; e++) {
    begins[e + 1] += begins[e];
  }
  // The neighbours of each element that come before it.
  const lists = new Uint32Array(pairs.length / 2);
  const next = begins.slice();
  for (let i = 0; i < pairs.length; i += 2) {
    const [low, high] = [Math.min(pairs[i], pairs[i + 1]), Math.max(pairs[i], pairs[i + 1])];
    lists[next[high]++] = low;
  }
  const numbers = new Uint8Array(mesh.elements);
  for (let e = 0; e < mesh.elements; e++) {
    let taken = 0;
    for (let i = begins[e]; i < begins[e + 1]; i++) {
      taken |= 1 << numbers[lists[i]];
    }
    const first = Math.imul(e, 0x9e3779b1) >>> 29;
    const free = [0, 1, 2, 3, 4, 5, 6, 7].find((k) => !(taken & (1 << ((first + k) % 8)))) ?? 0;
    numbers[e] = (first + free) % 8;
  }
  return numbers;
}

/** About five round numbers from low to high. */
function ticksOf(low, high) {
  const size = high - low;
  if (!(size > 0) || !Number.isFinite(size)) {
    return [low];
  }
  const power = 10 ** Math.floor(Math.log10(size / 4));
  const step = power * [1, 2, 5, 10].find((times) => (power * times * 6) >= size);
  const ticks = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * size; k++) {
    ticks.push(k * step);
  }
  return ticks;
}

/** Digits in which numbers between low and high differ. */
function digitsOf(low, high) {
  const parts = Math.max(Math.abs(low), Math.abs(high)) / (high - low);
  return Number.isFinite(parts) ? clamp(4 + Math.ceil(Math.log10(parts)), 6, 17) : 6;
}

/** Numbers in one notation. */
function worded(numbers, digits = 6) {
  const largest = Math.max(...numbers.map(Math.abs));
  const isPlain = largest === 0 || (largest >= 1e-3 && largest < 1e6);
  return numbers.map((number) => {
    if (!Number.isFinite(number)) {
      return String(number);
    }
    // Both without zeros at the end.
    return isPlain ? String(Number(number.toPrecision(digits)))
      : number.toExponential(digits - 1).replace(/\.?0+e/, "e");
  });
}
