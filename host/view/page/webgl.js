// Meshes in WebGL 2. Each triangle has its own corners: a face's colour ends at its edges, and edges are drawn where a
// pixel is near to a side of its triangle.

/** Direction to the light, in the camera's axes. */
const LIGHT = [-0.3, 0.4, 0.866];
/** How bright a face is in the dark. */
const AMBIENT = 0.5;
/** The same where colours have a legend. */
const AMBIENT_OF_SCALES = 0.75;

/** What the fragment shader draws. */
const MODES = { faces: 0, edged: 1, edges: 2 };
const [LINES, DOTS] = [3, 4];

const VERTEX_SHADER = `#version 300 es
layout(location = 0) in vec4 corner;
layout(location = 1) in vec4 color;
uniform vec3 sizes;
uniform mat3 rotation;
uniform vec4 frame;
uniform float away;
uniform float dot_size;
out vec3 place;
out vec3 weights;
out vec4 tint;
flat out int sides;
void main() {
  place = rotation * ((corner.xyz - 0.5) * sizes);
  tint = color;
  sides = int(corner.w * 65535.0 + 0.5);
  int k = gl_VertexID % 3;
  weights = vec3(k == 0, k == 1, k == 2);
  float depth = away > 0.0 ? away - place.z : 1.0;
  // Depths of 2 to 6 to -1 to 1.
  gl_Position = vec4(place.xy * frame.xy + frame.zw * depth, away > 0.0 ? depth * 2.0 - 6.0 : 0.0, depth);
  gl_PointSize = dot_size;
}`;

const FRAGMENT_SHADER = `#version 300 es
precision highp float;
uniform int mode;
uniform vec4 ink;
uniform float width;
uniform float away;
uniform sampler2D ramp;
in vec3 place;
in vec3 weights;
in vec4 tint;
flat in int sides;
out vec4 pixel;
void main() {
  vec3 normal = cross(dFdx(place), dFdy(place));
  vec3 slope = fwidth(weights);
  bool is_scale = tint.a > 0.5;
  float part = (tint.r * 256.0 + tint.g) / 257.0;
  vec3 hue = is_scale ? textureLod(ramp, vec2((part * 255.0 + 0.5) / 256.0, 0.5), 0.0).rgb : tint.rgb;
  if (mode == ${LINES}) {
    pixel = vec4(ink.rgb * ink.a, ink.a);
    return;
  }
  if (mode == ${DOTS}) {
    if (length(gl_PointCoord - 0.5) > 0.5) discard;
    pixel = vec4(hue, 1.0);
    return;
  }
  vec3 near = 1.0 - smoothstep(slope * max(width - 0.5, 0.0), slope * (width + 0.5), weights);
  // Side k begins at corner k: it is where the weight of the third corner is 0.
  near *= vec3((sides & 2) != 0, (sides & 4) != 0, (sides & 1) != 0);
  float edge = max(near.x, max(near.y, near.z));
  if (mode == ${MODES.edges}) {
    pixel = vec4(ink.rgb, 1.0) * ink.a * edge;
    return;
  }
  // Edges of triangles that are as small as pixels would hide all else.
  float smallness = max(slope.x, max(slope.y, slope.z));
  edge *= mode == ${MODES.edged} ? ink.a * (1.0 - smoothstep(0.2, 0.6, smallness)) : 0.0;
  float light = 1.0;
  if (away > 0.0) {
    normal /= max(length(normal), 1e-20);
    float side = dot(normal, vec3(0.0, 0.0, away) - place) < 0.0 ? -1.0 : 1.0;
    light = max(side * dot(normal, vec3(${LIGHT.join(", ")})), 0.0);
  }
  pixel = vec4(mix(hue * mix(is_scale ? ${AMBIENT_OF_SCALES} : ${AMBIENT}, 1.0, light), ink.rgb, edge), 1.0);
}`;

class WebGlRenderer {
  /** Throws where the canvas has no WebGL. */
  constructor(canvas, box) {
    this.name = "WebGL";
    this.canvas = canvas;
    this.box = box;
    // What is drawn must stay there for print.
    this.gl = canvas.getContext("webgl2", { antialias: true, preserveDrawingBuffer: true });
    if (!this.gl) {
      throw new Error("no WebGL");
    }
    this.prepare();
    canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
    canvas.addEventListener("webglcontextrestored", () => {
      this.prepare();
      this.setMesh(this.mesh, this.seen);
      this.setColors(this.colors, this.ramp);
      canvas.dispatchEvent(new Event("redraw"));
    });
  }

  /** Compiles the program. */
  prepare() {
    const { gl } = this;
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
    gl.linkProgram(program);
    gl.useProgram(program);
    this.uniforms = {};
    for (const name of ["sizes", "rotation", "frame", "away", "dot_size", "mode", "ink", "width"]) {
      this.uniforms[name] = gl.getUniformLocation(program, name);
    }
    this.buffers = { corners: gl.createBuffer(), colors: gl.createBuffer(), lines: gl.createBuffer() };
    gl.bindTexture(gl.TEXTURE_2D, gl.createTexture());
    for (const name of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) {
      gl.texParameteri(gl.TEXTURE_2D, name, gl.LINEAR);
    }
    for (const name of [gl.TEXTURE_WRAP_S, gl.TEXTURE_WRAP_T]) {
      gl.texParameteri(gl.TEXTURE_2D, name, gl.CLAMP_TO_EDGE);
    }
    gl.enable(gl.DEPTH_TEST);
    gl.depthFunc(gl.LEQUAL);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    gl.polygonOffset(1, 1);
  }

  fill(buffer, data) {
    this.gl.bindBuffer(this.gl.ARRAY_BUFFER, buffer);
    this.gl.bufferData(this.gl.ARRAY_BUFFER, data, this.gl.STATIC_DRAW);
  }

  /** Takes a mesh and what is seen of it. */
  setMesh(mesh, seen) {
    [this.mesh, this.seen] = [mesh, seen];
    this.corners = seen.triangles.length * (mesh.isCloud ? 1 : 3);
    const corners = new Uint16Array(4 * this.corners);
    const put = (at, vertex, sides) => {
      corners[at] = mesh.steps[3 * vertex];
      corners[at + 1] = mesh.steps[3 * vertex + 1];
      corners[at + 2] = mesh.steps[3 * vertex + 2];
      corners[at + 3] = sides;
    };
    seen.triangles.forEach((t, i) => {
      if (mesh.isCloud) {
        put(4 * i, t, 0);
        return;
      }
      const sides = mesh.sides ? mesh.sides[t] : 7;
      for (let k = 0; k < 3; k++) {
        put(12 * i + 4 * k, mesh.triangles[3 * t + k], sides);
      }
    });
    this.fill(this.buffers.corners, corners);
    const lines = new Uint16Array(4 * mesh.segments.length);
    mesh.segments.forEach((vertex, i) => lines.set(mesh.steps.subarray(3 * vertex, 3 * vertex + 3), 4 * i));
    this.fill(this.buffers.lines, lines);
  }

  /** The colour of each corner, or its place on a ramp. */
  setColors(colors, ramp) {
    const { gl } = this;
    [this.colors, this.ramp] = [colors, ramp];
    this.fill(this.buffers.colors, colors);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, 256, 1, 0, gl.RGBA, gl.UNSIGNED_BYTE, ramp);
  }

  draw(frame, mode, theme) {
    const { gl, canvas, uniforms, buffers, mesh } = this;
    const half = Math.min(canvas.width, canvas.height) / 2;
    const [x, y] = [half / (canvas.width / 2), half / (canvas.height / 2)];
    gl.viewport(0, 0, canvas.width, canvas.height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.uniform3fv(uniforms.sizes, this.box.sizes);
    gl.uniformMatrix3fv(uniforms.rotation, false, [0, 1, 2].flatMap((column) => frame.rows.map((row) => row[column])));
    gl.uniform4f(uniforms.frame, frame.scale * x, frame.scale * y, frame.shift[0] * x, frame.shift[1] * y);
    gl.uniform1f(uniforms.away, frame.distance);
    gl.uniform1f(uniforms.width, 0.5 * theme.ratio);
    this.attribute(0, buffers.corners, gl.UNSIGNED_SHORT);
    this.attribute(1, buffers.colors, gl.UNSIGNED_BYTE);
    this.style(mesh.isCloud ? DOTS : MODES[mode], mode === "edges" ? theme.wire : theme.edge, mode === "edges");
    if (mesh.isCloud) {
      gl.uniform1f(uniforms.dot_size, dotSize(mesh, frame, half));
      gl.drawArrays(gl.POINTS, 0, this.corners);
    } else {
      // Faces a little farther away than lines on them.
      gl.enable(gl.POLYGON_OFFSET_FILL);
      gl.drawArrays(gl.TRIANGLES, 0, this.corners);
      gl.disable(gl.POLYGON_OFFSET_FILL);
    }
    if (mesh.segments.length > 0) {
      this.attribute(0, buffers.lines, gl.UNSIGNED_SHORT);
      gl.disableVertexAttribArray(1);
      this.style(LINES, theme.segment, false);
      // Lines of WebGL have a pixel: three beside each other are seen.
      for (const [right, up] of [[0, 0], [1, 0], [0, 1]]) {
        gl.uniform4f(uniforms.frame, frame.scale * x, frame.scale * y, frame.shift[0] * x + (2 * right) / canvas.width,
          frame.shift[1] * y + (2 * up) / canvas.height);
        gl.drawArrays(gl.LINES, 0, mesh.segments.length);
      }
    }
  }

  style(mode, color, blends) {
    const { gl, uniforms } = this;
    const [r, g, b, a] = parseColor(color);
    gl.uniform1i(uniforms.mode, mode);
    gl.uniform4f(uniforms.ink, r / 255, g / 255, b / 255, a);
    gl[blends ? "enable" : "disable"](gl.BLEND);
  }

  /** Four numbers a corner, which stand for 0 to 1. */
  attribute(index, buffer, type) {
    const { gl } = this;
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.enableVertexAttribArray(index);
    gl.vertexAttribPointer(index, 4, type, true, 0, 0);
  }
}

/** Red, green, blue (0 to 255) and alpha (0 to 1) of `rgb(…)` or `rgba(…)`. */
function parseColor(text) {
  const numbers = text.match(/[\d.]+/g).map(Number);
  return numbers.length < 4 ? [...numbers, 1] : numbers;
}

/** Pixels of a point of a cloud: about as far apart as points are, if they lie on a surface. */
function dotSize(mesh, frame, half) {
  const scale = frame.distance === 0 ? frame.scale : frame.scale / frame.distance;
  return clamp((2 * half * scale) / Math.sqrt(mesh.points), 1.5, 24);
}
