"use strict";
// Planar meshes, in canvas 2D: it fills polygons of any shape, and its lines are smooth.

/** Steps of a colour scale: faces of one step are one path. */
const SCALE_STEPS = 32;

class PlaneRenderer {
  constructor(canvas, mesh, palette) {
    this.name = "canvas 2D";
    this.context = canvas.getContext("2d");
    this.canvas = canvas;
    this.mesh = mesh;
    this.groups = new Map();
    mesh.colors.forEach((color, face) => {
      const isScale = palette in SCALES;
      const step = isScale ? Math.round((color * (SCALE_STEPS - 1)) / 255) : color;
      if (!this.groups.has(step)) {
        const [r, g, b] = colorOf(palette, isScale ? (step * 255) / (SCALE_STEPS - 1) : color);
        this.groups.set(step, { color: `rgb(${r},${g},${b})`, faces: [] });
      }
      this.groups.get(step).faces.push(face);
    });
    this.screen = new Float32Array(2 * mesh.vertices);
  }

  draw(camera, mode, theme) {
    const { canvas, context, mesh, screen } = this;
    const [width, height] = [canvas.width, canvas.height];
    const scale = camera.scale(Math.min(width, height) / 2) * FIT;
    for (let v = 0; v < mesh.vertices; v++) {
      screen[2 * v] = width / 2 + (mesh.positions[3 * v] - camera.x) * scale;
      screen[2 * v + 1] = height / 2 - (mesh.positions[3 * v + 1] - camera.y) * scale;
    }
    context.clearRect(0, 0, width, height);
    if (mode !== "edges") {
      for (const group of this.groups.values()) {
        context.beginPath();
        group.faces.forEach((face) => this.trace(face));
        context.fillStyle = group.color;
        context.fill("evenodd");
      }
    }
    if (mode !== "faces") {
      context.beginPath();
      for (let i = 0; i < mesh.edges.length; i += 2) {
        this.line(mesh.edges[i], mesh.edges[i + 1]);
      }
      context.strokeStyle = mode === "edges" ? theme.wire : theme.edge;
      // Thin where edges are dense.
      context.lineWidth = clamp(0.5 * Math.sqrt(camera.zoom), 0.5, 1.25) * theme.ratio;
      context.stroke();
    }
  }

  /** Whether a box on the screen lies outside of the canvas. */
  isOutside(left, top, right, bottom) {
    return right < 0 || bottom < 0 || left > this.canvas.width || top > this.canvas.height;
  }

  trace(face) {
    const { mesh, screen, context } = this;
    let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
    const [begin, end] = [mesh.offsets[face], mesh.offsets[face + 1]];
    for (let i = begin; i < end; i++) {
      const [x, y] = [screen[2 * mesh.indices[i]], screen[2 * mesh.indices[i] + 1]];
      left = Math.min(left, x);
      right = Math.max(right, x);
      top = Math.min(top, y);
      bottom = Math.max(bottom, y);
    }
    if (this.isOutside(left, top, right, bottom)) {
      return;
    }
    for (let i = begin; i < end; i++) {
      const v = mesh.indices[i];
      if (i === begin) {
        context.moveTo(screen[2 * v], screen[2 * v + 1]);
      } else {
        context.lineTo(screen[2 * v], screen[2 * v + 1]);
      }
    }
    context.closePath();
  }

  line(a, b) {
    const { screen, context } = this;
    const [ax, ay, bx, by] = [screen[2 * a], screen[2 * a + 1], screen[2 * b], screen[2 * b + 1]];
    if (!this.isOutside(Math.min(ax, bx), Math.min(ay, by), Math.max(ax, bx), Math.max(ay, by))) {
      context.moveTo(ax, ay);
      context.lineTo(bx, by);
    }
  }
}
