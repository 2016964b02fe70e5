// Meshes in canvas 2D, where there is no WebGL: from the farthest triangle to the nearest.

/** Width in CSS pixels of the lines that close gaps between triangles. */
const SEAM_WIDTH = 0.6;

class PainterRenderer {
  constructor(canvas) {
    this.name = "canvas 2D";
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
  }

  setMesh(mesh, seen) {
    [this.mesh, this.seen] = [mesh, seen];
    this.edges = seenEdges(mesh, seen);
    this.normals = mesh.isCloud ? null : this.normalsOf(mesh, seen);
  }

  normalsOf({ positions, triangles }, seen) {
    const normals = new Float32Array(3 * seen.triangles.length);
    seen.triangles.forEach((t, i) => {
      const [a, b, c] = [3 * triangles[3 * t], 3 * triangles[3 * t + 1], 3 * triangles[3 * t + 2]];
      const [ux, uy, uz] = [positions[b] - positions[a], positions[b + 1] - positions[a + 1], positions[b + 2] - positions[a + 2]];
      const [vx, vy, vz] = [positions[c] - positions[a], positions[c + 1] - positions[a + 1], positions[c + 2] - positions[a + 2]];
      const [x, y, z] = [uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx];
      const length = Math.hypot(x, y, z) || 1;
      normals.set([x / length, y / length, z / length], 3 * i);
    });
    return normals;
  }

  /** Takes the colours of corners, or their places on a ramp; a triangle has their mean. */
  setColors(colors, ramp) {
    const bytes = new Uint8Array(colors.buffer);
    const corners = this.mesh.isCloud ? 1 : 3;
    const count = this.seen.triangles.length;
    this.hues = new Uint8Array(4 * count);
    for (let i = 0; i < count; i++) {
      const mean = [0, 0, 0, 0];
      for (let k = 0; k < 4 * corners; k++) {
        mean[k % 4] += bytes[4 * corners * i + k] / corners;
      }
      const isScale = mean[3] > 127;
      const at = 4 * Math.round((mean[0] * 256 + mean[1]) / 257);
      this.hues.set(isScale ? ramp.subarray(at, at + 4) : mean, 4 * i);
    }
  }

  draw(frame, mode, theme) {
    const { canvas, context, mesh } = this;
    const screen = project(mesh.positions, frame, canvas.width, canvas.height);
    context.clearRect(0, 0, canvas.width, canvas.height);
    context.lineJoin = "round";
    if (mesh.isCloud) {
      this.drawDots(screen, dotSize(mesh, frame, Math.min(canvas.width, canvas.height) / 2));
    } else if (mode === "edges") {
      this.drawEdges(screen, theme.wire, EDGE_WIDTH * theme.ratio);
    } else {
      this.drawFaces(screen, frame, mode, theme);
    }
    if (mesh.segments.length > 0) {
      context.beginPath();
      for (let i = 0; i < mesh.segments.length; i += 2) {
        this.line(screen, mesh.segments[i], mesh.segments[i + 1]);
      }
      context.lineWidth = SEGMENT_WIDTH * theme.ratio;
      context.strokeStyle = theme.segment;
      context.stroke();
    }
  }

  drawDots(screen, size) {
    const { triangles } = this.seen;
    for (const i of this.ordered((at) => screen[3 * triangles[at] + 2])) {
      const v = 3 * triangles[i];
      this.context.fillStyle = this.color(i, 1);
      this.context.fillRect(screen[v] - size / 2, screen[v + 1] - size / 2, size, size);
    }
  }

  drawFaces(screen, frame, mode, theme) {
    const { context, mesh: { triangles, sides }, seen } = this;
    const isFlat = frame.distance === 0;
    const depth = (i) => {
      const t = 3 * seen.triangles[i];
      return screen[3 * triangles[t] + 2] + screen[3 * triangles[t + 1] + 2] + screen[3 * triangles[t + 2] + 2];
    };
    for (const i of isFlat ? seen.triangles.keys() : this.ordered(depth)) {
      const t = seen.triangles[i];
      const [a, b, c] = [3 * triangles[3 * t], 3 * triangles[3 * t + 1], 3 * triangles[3 * t + 2]];
      const bits = sides ? sides[t] : 7;
      const fill = this.color(i, isFlat ? 1 : this.light(frame, screen, i, a, b, c));
      context.beginPath();
      context.moveTo(screen[a], screen[a + 1]);
      context.lineTo(screen[b], screen[b + 1]);
      context.lineTo(screen[c], screen[c + 1]);
      context.closePath();
      context.fillStyle = fill;
      context.fill();
      // A line of the triangle's own colour closes the gap to its neighbours.
      const edges = mode === "edged" && !isFlat ? bits : 0;
      this.stroke(screen, t, 7 & ~edges, fill, SEAM_WIDTH * theme.ratio);
      this.stroke(screen, t, edges, theme.edge, EDGE_WIDTH * theme.ratio);
    }
    // In the plane no face hides an edge.
    if (mode === "edged" && isFlat) {
      this.drawEdges(screen, theme.edge, EDGE_WIDTH * theme.ratio);
    }
  }

  drawEdges(screen, color, width) {
    const { context, edges } = this;
    context.beginPath();
    for (let i = 0; i < edges.length; i += 2) {
      this.line(screen, edges[i], edges[i + 1]);
    }
    context.lineWidth = width;
    context.strokeStyle = color;
    context.stroke();
  }

  /** Draws the sides of a triangle that have a bit. */
  stroke(screen, t, bits, color, width) {
    if (bits === 0) {
      return;
    }
    const { context, mesh } = this;
    context.beginPath();
    for (let k = 0; k < 3; k++) {
      if (bits & (1 << k)) {
        this.line(screen, mesh.triangles[3 * t + k], mesh.triangles[3 * t + ((k + 1) % 3)]);
      }
    }
    context.lineWidth = width;
    context.strokeStyle = color;
    context.stroke();
  }

  /** What is seen, the farthest first. */
  ordered(depthOf) {
    const depth = Float32Array.from({ length: this.seen.triangles.length }, (_, i) => depthOf(i));
    return Uint32Array.from(depth.keys()).sort((a, b) => depth[b] - depth[a]);
  }

  /** How bright a triangle is, on the side that is seen. */
  light({ rows }, screen, i, a, b, c) {
    const [x, y, z] = [this.normals[3 * i], this.normals[3 * i + 1], this.normals[3 * i + 2]];
    const around = (screen[b] - screen[a]) * (screen[c + 1] - screen[a + 1])
      - (screen[b + 1] - screen[a + 1]) * (screen[c] - screen[a]);
    let light = 0;
    for (let k = 0; k < 3; k++) {
      light += LIGHT[k] * (rows[k][0] * x + rows[k][1] * y + rows[k][2] * z);
    }
    return Math.max(around < 0 ? light : -light, 0);
  }

  color(i, light) {
    const isScale = this.hues[4 * i + 3] > 127;
    const ambient = isScale ? AMBIENT_OF_SCALES : AMBIENT;
    const shade = ambient + (1 - ambient) * light;
    const part = (k) => Math.round(this.hues[4 * i + k] * shade);
    return `rgb(${part(0)},${part(1)},${part(2)})`;
  }

  line(screen, a, b) {
    this.context.moveTo(screen[3 * a], screen[3 * a + 1]);
    this.context.lineTo(screen[3 * b], screen[3 * b + 1]);
  }
}
