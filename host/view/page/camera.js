// Cameras, one for all pictures of a figure. Lengths on the screen are in CSS pixels; `half` is half the shorter side.

/** Sees a planar mesh from above. */
class PlaneCamera {
  constructor() {
    this.reset();
  }

  reset() {
    this.x = 0;
    this.y = 0;
    this.zoom = 1;
  }

  /** Dragging. */
  drag(dx, dy, half) {
    this.shift(dx, dy, half);
  }

  shift(dx, dy, half) {
    const scale = half * this.zoom;
    this.x = clamp(this.x - dx / scale, -1.2, 1.2);
    this.y = clamp(this.y + dy / scale, -1.2, 1.2);
  }

  /** Enlarges around a place, given from the middle of the canvas. */
  enlarge(factor, px, py, half) {
    const before = half * this.zoom;
    this.zoom = clamp(this.zoom * factor, 0.5, 400);
    const after = half * this.zoom;
    this.x += px / before - px / after;
    this.y -= py / before - py / after;
  }

  /** What a renderer needs; see `project`. */
  frame() {
    const scale = FIT * this.zoom;
    return { rows: [[1, 0, 0], [0, 1, 0], [0, 0, 1]], scale, shift: [-this.x * scale, -this.y * scale], distance: 0 };
  }
}

/** Goes around a mesh in space. */
class SpaceCamera {
  /**
   * `up`: the axis that points up; `view`: degrees around it, as from x towards y if z is up, and above the horizon.
   */
  constructor(up, [azimuth, elevation]) {
    this.up = up;
    // This camera's azimuth is that of the picture's right axis, 90 degrees after the viewer's.
    this.home = { azimuth: ((azimuth + 90) * Math.PI) / 180, elevation: (elevation * Math.PI) / 180, zoom: 1, x: 0, y: 0 };
    this.reset();
  }

  reset() {
    Object.assign(this, this.home);
  }

  /** Lets the meshes fill the picture in the first view. */
  fit(meshes) {
    const [low, high] = [[Infinity, Infinity], [-Infinity, -Infinity]];
    for (const { isCloud, positions, triangles } of meshes) {
      // In a square from -1 to 1.
      const screen = project(positions, this.frame(), 2, 2);
      const count = isCloud ? positions.length / 3 : triangles.length;
      for (let i = 0; i < count; i++) {
        const v = 3 * (isCloud ? i : triangles[i]);
        for (const axis of [0, 1]) {
          low[axis] = Math.min(low[axis], screen[v + axis] - 1);
          high[axis] = Math.max(high[axis], screen[v + axis] - 1);
        }
      }
    }
    const longest = Math.max(high[0] - low[0], high[1] - low[1]);
    if (longest > 0) {
      const zoom = (2 * FIT) / longest;
      Object.assign(this.home, { zoom, x: (-zoom * (low[0] + high[0])) / 2, y: (zoom * (low[1] + high[1])) / 2 });
      this.reset();
    }
  }

  drag(dx, dy, half) {
    this.azimuth -= (dx / half) * 1.6;
    this.elevation = clamp(this.elevation + (dy / half) * 1.6, -1.5, 1.5);
  }

  shift(dx, dy, half) {
    this.x = clamp(this.x + dx / half, -3 * this.zoom, 3 * this.zoom);
    this.y = clamp(this.y - dy / half, -3 * this.zoom, 3 * this.zoom);
  }

  enlarge(factor, px, py, half) {
    const zoom = clamp(this.zoom * factor, 0.4, 60);
    const change = zoom / this.zoom;
    this.zoom = zoom;
    this.x = px / half - (px / half - this.x) * change;
    this.y = -py / half - (-py / half - this.y) * change;
  }

  /** Rows of the rotation into the camera's axes: right, up, towards the viewer. */
  rotation() {
    const [ca, sa] = [Math.cos(this.azimuth), Math.sin(this.azimuth)];
    const [ce, se] = [Math.cos(this.elevation), Math.sin(this.elevation)];
    const rows = [[ca, sa, 0], [-sa * se, ca * se, ce], [sa * ce, -ca * ce, se]];
    // The axes of the mesh in the order in which the one that points up is the last.
    return rows.map((row) => [0, 1, 2].map((axis) => row[(axis + 2 - this.up) % 3]));
  }

  frame() {
    return { rows: this.rotation(), scale: FIT * DISTANCE * this.zoom, shift: [this.x, this.y], distance: DISTANCE };
  }
}

/** Distance of the viewer from the middle of a mesh, in its radii. */
const DISTANCE = 4;
/** Half-sizes of the shorter side that a mesh's radius takes, at the middle. */
const FIT = 0.95;

function clamp(value, low, high) {
  return Math.min(Math.max(value, low), high);
}

/**
 * Positions on a canvas: x, y in pixels, and the depth, which grows away from the viewer. WebGL's shader does the same.
 */
function project(positions, frame, width, height) {
  const { rows: [right, up, near], scale, shift, distance } = frame;
  const half = Math.min(width, height) / 2;
  const screen = new Float32Array(positions.length);
  for (let i = 0; i < positions.length; i += 3) {
    const [x, y, z] = [positions[i], positions[i + 1], positions[i + 2]];
    const depth = distance - (near[0] * x + near[1] * y + near[2] * z);
    const size = (half * scale) / (distance === 0 ? 1 : depth);
    screen[i] = width / 2 + (right[0] * x + right[1] * y + right[2] * z) * size + shift[0] * half;
    screen[i + 1] = height / 2 - (up[0] * x + up[1] * y + up[2] * z) * size - shift[1] * half;
    screen[i + 2] = depth;
  }
  return screen;
}
