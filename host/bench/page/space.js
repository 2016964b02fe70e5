"use strict";
// Meshes in space: in WebGL, or, where there is none, in canvas 2D from the farthest triangle to the nearest.

/** Direction to the light, in the camera's axes. */
const LIGHT = [-0.3, 0.4, 0.866];
/** How bright a face is in the dark. */
const AMBIENT = 0.4;

/** Corners, normal and colour of each triangle; larger faces are fans. */
function trianglesOf(mesh, palette) {
  const corners = [];
  const normals = [];
  const colors = [];
  for (let face = 0; face + 1 < mesh.offsets.length; face++) {
    const color = colorOf(palette, mesh.colors[face]);
    const begin = mesh.offsets[face];
    for (let i = begin + 1; i + 1 < mesh.offsets[face + 1]; i++) {
      const [a, b, c] = [mesh.indices[begin], mesh.indices[i], mesh.indices[i + 1]];
      corners.push(a, b, c);
      normals.push(...normalOf(mesh.positions, a, b, c));
      colors.push(...color);
    }
  }
  return { count: corners.length / 3, corners, normals, colors };
}

function normalOf(positions, a, b, c) {
  const at = (v, axis) => positions[3 * v + axis];
  const [u, w] = [[0, 1, 2].map((i) => at(b, i) - at(a, i)), [0, 1, 2].map((i) => at(c, i) - at(a, i))];
  const cross = [u[1] * w[2] - u[2] * w[1], u[2] * w[0] - u[0] * w[2], u[0] * w[1] - u[1] * w[0]];
  const length = Math.hypot(...cross);
  return length > 0 ? cross.map((x) => x / length) : [0, 0, 1];
}

const VERTEX_SHADER = `
attribute vec3 position;
attribute vec3 normal;
attribute vec3 color;
uniform mat3 rotation;
uniform vec2 scale;
uniform vec2 shift;
varying vec3 shade;
void main() {
  vec3 p = rotation * position;
  vec3 n = rotation * normal;
  vec3 eye = vec3(0.0, 0.0, ${DISTANCE.toFixed(1)}) - p;
  float side = dot(n, eye) < 0.0 ? -1.0 : 1.0;
  float light = max(side * dot(n, vec3(${LIGHT.join(", ")})), 0.0);
  shade = color * mix(${AMBIENT}, 1.0, light);
  float depth = eye.z;
  // Depths of 2 to 6 to -1 to 1.
  gl_Position = vec4(p.xy * scale + shift * depth, depth * 2.0 - 6.0, depth);
}`;

const FRAGMENT_SHADER = `
precision mediump float;
uniform vec4 flat_color;
varying vec3 shade;
void main() {
  gl_FragColor = flat_color.a > 0.0 ? vec4(flat_color.rgb * flat_color.a, flat_color.a) : vec4(shade, 1.0);
}`;

class WebGlRenderer {
  /** Throws where the canvas has no WebGL. */
  constructor(canvas, mesh, palette) {
    this.name = "WebGL";
    this.canvas = canvas;
    this.mesh = mesh;
    this.triangles = trianglesOf(mesh, palette);
    // What is drawn must stay there for print.
    this.gl = canvas.getContext("webgl", { antialias: true, preserveDrawingBuffer: true });
    if (!this.gl) {
      throw new Error("no WebGL");
    }
    this.prepare();
    canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
    canvas.addEventListener("webglcontextrestored", () => {
      this.prepare();
      canvas.dispatchEvent(new Event("redraw"));
    });
  }

  /** Compiles the program and fills the buffers. */
  prepare() {
    const { gl, mesh, triangles } = this;
    const program = gl.createProgram();
    for (const [type, source] of [[gl.VERTEX_SHADER, VERTEX_SHADER], [gl.FRAGMENT_SHADER, FRAGMENT_SHADER]]) {
      const shader = gl.createShader(type);
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
      if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS) && !gl.isContextLost()) {
        throw new Error(`a shader does not compile: ${gl.getShaderInfoLog(shader)}`);
      }
    }
    ["position", "normal", "color"].forEach((name, i) => gl.bindAttribLocation(program, i, name));
    gl.linkProgram(program);
    gl.useProgram(program);
    this.uniforms = {};
    for (const name of ["rotation", "scale", "shift", "flat_color"]) {
      this.uniforms[name] = gl.getUniformLocation(program, name);
    }

    const corners = new Float32Array(9 * triangles.count);
    const normals = new Float32Array(9 * triangles.count);
    const colors = new Uint8Array(9 * triangles.count);
    triangles.corners.forEach((vertex, corner) => {
      const triangle = Math.floor(corner / 3);
      for (let axis = 0; axis < 3; axis++) {
        corners[3 * corner + axis] = mesh.positions[3 * vertex + axis];
        normals[3 * corner + axis] = triangles.normals[3 * triangle + axis];
        colors[3 * corner + axis] = triangles.colors[3 * triangle + axis];
      }
    });
    const lines = new Float32Array(3 * mesh.edges.length);
    mesh.edges.forEach((vertex, end) => {
      lines.set(mesh.positions.subarray(3 * vertex, 3 * vertex + 3), 3 * end);
    });
    const buffer = (data) => {
      const name = gl.createBuffer();
      gl.bindBuffer(gl.ARRAY_BUFFER, name);
      gl.bufferData(gl.ARRAY_BUFFER, data, gl.STATIC_DRAW);
      return name;
    };
    this.buffers = {
      corners: buffer(corners), normals: buffer(normals), colors: buffer(colors), lines: buffer(lines),
    };
  }

  draw(camera, mode, theme) {
    const { gl, canvas, uniforms, buffers } = this;
    const half = Math.min(canvas.width, canvas.height) / 2;
    const [x, y] = [half / (canvas.width / 2), half / (canvas.height / 2)];
    const size = FIT * DISTANCE * camera.zoom;
    gl.viewport(0, 0, canvas.width, canvas.height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.enable(gl.DEPTH_TEST);
    gl.depthFunc(gl.LEQUAL);
    const rows = camera.rotation();
    gl.uniformMatrix3fv(uniforms.rotation, false, [0, 1, 2].flatMap((column) => rows.map((row) => row[column])));
    gl.uniform2f(uniforms.scale, size * x, size * y);
    gl.uniform2f(uniforms.shift, camera.x * x, camera.y * y);
    if (mode !== "edges") {
      this.attribute(0, buffers.corners, gl.FLOAT);
      this.attribute(1, buffers.normals, gl.FLOAT);
      this.attribute(2, buffers.colors, gl.UNSIGNED_BYTE);
      gl.uniform4f(uniforms.flat_color, 0, 0, 0, 0);
      // Faces a little farther away than their edges.
      gl.enable(gl.POLYGON_OFFSET_FILL);
      gl.polygonOffset(1, 1);
      gl.disable(gl.BLEND);
      gl.drawArrays(gl.TRIANGLES, 0, 3 * this.triangles.count);
      gl.disable(gl.POLYGON_OFFSET_FILL);
    }
    if (mode !== "faces") {
      const [r, g, b, a] = parseColor(mode === "edges" ? theme.wire : theme.edge);
      this.attribute(0, buffers.lines, gl.FLOAT);
      gl.disableVertexAttribArray(1);
      gl.disableVertexAttribArray(2);
      gl.uniform4f(uniforms.flat_color, r / 255, g / 255, b / 255, a);
      gl.enable(gl.BLEND);
      gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
      gl.drawArrays(gl.LINES, 0, this.mesh.edges.length);
    }
  }

  /** Three numbers a vertex; bytes stand for 0 to 1. */
  attribute(index, buffer, type) {
    const { gl } = this;
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.enableVertexAttribArray(index);
    gl.vertexAttribPointer(index, 3, type, type !== gl.FLOAT, 0, 0);
  }
}

/** Red, green, blue (0 to 255) and alpha (0 to 1) of `rgb(…)` or `rgba(…)`. */
function parseColor(text) {
  const numbers = text.match(/[\d.]+/g).map(Number);
  return numbers.length < 4 ? [...numbers, 1] : numbers;
}

class PainterRenderer {
  constructor(canvas, mesh, palette) {
    this.name = "canvas 2D";
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.mesh = mesh;
    this.triangles = trianglesOf(mesh, palette);
    this.screen = new Float32Array(3 * mesh.vertices);
  }

  draw(camera, mode, theme) {
    const { canvas, context, mesh, triangles, screen } = this;
    const half = Math.min(canvas.width, canvas.height) / 2;
    const rows = camera.rotation();
    const turn = (numbers, i, row) => row[0] * numbers[i] + row[1] * numbers[i + 1] + row[2] * numbers[i + 2];
    for (let i = 0; i < screen.length; i += 3) {
      const depth = DISTANCE - turn(mesh.positions, i, rows[2]);
      const size = (half * FIT * DISTANCE * camera.zoom) / depth;
      screen[i] = canvas.width / 2 + turn(mesh.positions, i, rows[0]) * size + camera.x * half;
      screen[i + 1] = canvas.height / 2 - turn(mesh.positions, i, rows[1]) * size - camera.y * half;
      screen[i + 2] = depth;
    }
    context.clearRect(0, 0, canvas.width, canvas.height);
    context.lineJoin = "round";
    context.lineWidth = 0.6 * theme.ratio;
    if (mode === "edges") {
      context.beginPath();
      for (let i = 0; i < mesh.edges.length; i += 2) {
        const [a, b] = [3 * mesh.edges[i], 3 * mesh.edges[i + 1]];
        context.moveTo(screen[a], screen[a + 1]);
        context.lineTo(screen[b], screen[b + 1]);
      }
      context.strokeStyle = theme.wire;
      context.stroke();
      return;
    }
    const depth = new Float32Array(triangles.count);
    for (let t = 0; t < triangles.count; t++) {
      depth[t] = [0, 1, 2].reduce((sum, i) => sum + screen[3 * triangles.corners[3 * t + i] + 2], 0);
    }
    const order = Uint32Array.from(depth.keys()).sort((a, b) => depth[b] - depth[a]);
    for (const t of order) {
      const [a, b, c] = [0, 1, 2].map((i) => 3 * triangles.corners[3 * t + i]);
      const normal = rows.map((row) => turn(triangles.normals, 3 * t, row));
      const around = (screen[b] - screen[a]) * (screen[c + 1] - screen[a + 1])
        - (screen[b + 1] - screen[a + 1]) * (screen[c] - screen[a]);
      const side = around < 0 ? 1 : -1;
      const light = Math.max(side * normal.reduce((sum, x, i) => sum + x * LIGHT[i], 0), 0);
      const shade = AMBIENT + (1 - AMBIENT) * light;
      const fill = `rgb(${[0, 1, 2].map((i) => Math.round(triangles.colors[3 * t + i] * shade))})`;
      context.beginPath();
      context.moveTo(screen[a], screen[a + 1]);
      context.lineTo(screen[b], screen[b + 1]);
      context.lineTo(screen[c], screen[c + 1]);
      context.closePath();
      context.fillStyle = fill;
      context.fill();
      // Without edges a line of the face's own colour closes the gap to its neighbours.
      context.strokeStyle = mode === "faces" ? fill : theme.edge;
      context.stroke();
    }
  }
}
