// Meshes in canvas 2D, where there is no WebGL: from the farthest triangle to the nearest.

class PainterRenderer {
  constructor(canvas) {
    this.name = "canvas 2D";
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
  }

  setMesh(mesh, seen) {
    [this.mesh, this.seen] = [mesh, seen];
  }

  setColors(colors, ramp) {
    this.colors = new Uint8Array(colors.buffer);
    this.ramp = ramp;
  }

  draw(frame, mode, theme) {
    const { canvas, context, mesh } = this;
    const screen = project(mesh.positions, frame, canvas.width, canvas.height);
    context.clearRect(0, 0, canvas.width, canvas.height);
    context.lineJoin = "round";
    context.lineWidth = 0.6 * theme.ratio;
    if (mesh.isCloud) {
      this.drawDots(screen, dotSize(mesh, frame, Math.min(canvas.width, canvas.height) / 2));
    } else if (mode === "edges") {
      context.beginPath();
      this.seen.triangles.forEach((t) => this.sides(screen, t));
      context.strokeStyle = theme.wire;
      context.stroke();
    } else {
      this.drawFaces(screen, frame, mode, theme);
    }
    if (mesh.segments.length > 0) {
      context.beginPath();
      for (let i = 0; i < mesh.segments.length; i += 2) {
        this.line(screen, mesh.segments[i], mesh.segments[i + 1]);
      }
      context.lineWidth = 2 * theme.ratio;
      context.strokeStyle = theme.segment;
      context.stroke();
    }
  }

  drawDots(screen, size) {
    const order = this.ordered(this.seen.triangles, (t) => screen[3 * t + 2]);
    for (const i of order) {
      const v = this.seen.triangles[i];
      this.context.fillStyle = this.color([i], 1);
      this.context.fillRect(screen[3 * v] - size / 2, screen[3 * v + 1] - size / 2, size, size);
    }
  }

  drawFaces(screen, frame, mode, theme) {
    const { context, mesh } = this;
    const corner = (t, k) => 3 * mesh.triangles[3 * t + k];
    const isFlat = frame.distance === 0;
    const order = isFlat ? this.seen.triangles.keys()
      : this.ordered(this.seen.triangles, (t) => [0, 1, 2].reduce((sum, k) => sum + screen[corner(t, k) + 2], 0));
    for (const i of order) {
      const t = this.seen.triangles[i];
      const [a, b, c] = [0, 1, 2].map((k) => corner(t, k));
      const fill = this.color([3 * i, 3 * i + 1, 3 * i + 2], isFlat ? 1 : this.light(frame, a, b, c));
      context.beginPath();
      context.moveTo(screen[a], screen[a + 1]);
      context.lineTo(screen[b], screen[b + 1]);
      context.lineTo(screen[c], screen[c + 1]);
      context.closePath();
      context.fillStyle = fill;
      context.fill();
      // A line of the triangle's own colour closes the gap to its neighbours.
      context.strokeStyle = fill;
      context.stroke();
      if (mode === "edged" && !isFlat) {
        context.beginPath();
        this.sides(screen, t);
        context.strokeStyle = theme.edge;
        context.stroke();
      }
    }
    // In the plane no face hides an edge.
    if (mode === "edged" && isFlat) {
      context.beginPath();
      this.seen.triangles.forEach((t) => this.sides(screen, t));
      context.strokeStyle = theme.edge;
      context.stroke();
    }
  }

  /** Places in a list, the farthest first. */
  ordered(list, depthOf) {
    const depth = Float32Array.from(list, depthOf);
    return Uint32Array.from(depth.keys()).sort((a, b) => depth[b] - depth[a]);
  }

  light(frame, a, b, c) {
    const { positions } = this.mesh;
    const [u, v] = [b, c].map((end) => [0, 1, 2].map((axis) => positions[end + axis] - positions[a + axis]));
    const cross = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
    const length = Math.hypot(...cross) || 1;
    const dot = (row, of) => row[0] * of[0] + row[1] * of[1] + row[2] * of[2];
    const normal = frame.rows.map((row) => dot(row, cross) / length);
    const place = frame.rows.map((row) => dot(row, positions.subarray(a, a + 3)));
    const side = dot(normal, [-place[0], -place[1], frame.distance - place[2]]) < 0 ? -1 : 1;
    return Math.max(side * dot(normal, LIGHT), 0);
  }

  /** The mean colour of corners. */
  color(corners, light) {
    const mean = [0, 1, 2, 3].map((k) => corners.reduce((sum, corner) => sum + this.colors[4 * corner + k], 0) / corners.length);
    const isScale = mean[3] > 127;
    const at = 4 * Math.round((mean[0] * 256 + mean[1]) / 257);
    const hue = isScale ? this.ramp.subarray(at, at + 3) : mean.slice(0, 3);
    const ambient = isScale ? AMBIENT_OF_SCALES : AMBIENT;
    return `rgb(${Array.from(hue, (part) => Math.round(part * (ambient + (1 - ambient) * light)))})`;
  }

  /** The sides of a triangle that are edges. */
  sides(screen, t) {
    const { mesh } = this;
    const bits = mesh.sides ? mesh.sides[t] : 7;
    for (let k = 0; k < 3; k++) {
      if (bits & (1 << k)) {
        this.line(screen, mesh.triangles[3 * t + k], mesh.triangles[3 * t + ((k + 1) % 3)]);
      }
    }
  }

  line(screen, a, b) {
    this.context.moveTo(screen[3 * a], screen[3 * a + 1]);
    this.context.lineTo(screen[3 * b], screen[3 * b + 1]);
  }
}
