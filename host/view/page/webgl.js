// Meshes in WebGL 2. Each triangle has its own corners: a face's colour ends at its edges. Edges are rectangles of the
// lines' width on the screen: a triangle of a polygon may be narrower than a line, or than a pixel.

/** Direction to the light, in the camera's axes. */
const LIGHT = [-0.3, 0.4, 0.866];
/** How bright a face is in the dark. */
const AMBIENT = 0.5;
/** The same where colours have a legend. */
const AMBIENT_OF_SCALES = 0.75;

/** Width of edges and of segments in CSS pixels. */
const [EDGE_WIDTH, SEGMENT_WIDTH] = [1, 2];
/** Edges fade between these lengths in CSS pixels: edges that are as short as pixels would hide all else. */
const [NO_EDGE, WHOLE_EDGE] = [0.5, 2.5];

/** A place in the mesh's box as seen by the camera. */
const CAMERA = `
uniform vec3 sizes;
uniform mat3 rotation;
uniform vec4 frame;
uniform float away;
vec3 turned(vec3 corner) {
  return rotation * ((corner - 0.5) * sizes);
}
vec4 projected(vec3 place) {
  float depth = away > 0.0 ? away - place.z : 1.0;
  // Depths of 2 to 6 to -1 to 1.
  return vec4(place.xy * frame.xy + frame.zw * depth, away > 0.0 ? depth * 2.0 - 6.0 : 0.0, depth);
}`;

const VERTEX_SHADER = `#version 300 es
layout(location = 0) in vec4 corner;
layout(location = 1) in vec4 color;
uniform float dot_size;
out vec3 place;
out vec4 tint;
${CAMERA}
void main() {
  place = turned(corner.xyz);
  tint = color;
  gl_Position = projected(place);
  gl_PointSize = dot_size;
}`;

const FRAGMENT_SHADER = `#version 300 es
precision highp float;
uniform bool is_dot;
uniform float away;
uniform sampler2D ramp;
in vec3 place;
in vec4 tint;
out vec4 pixel;
void main() {
  vec3 normal = cross(dFdx(place), dFdy(place));
  bool is_scale = tint.a > 0.5;
  float part = (tint.r * 256.0 + tint.g) / 257.0;
  vec3 hue = is_scale ? textureLod(ramp, vec2((part * 255.0 + 0.5) / 256.0, 0.5), 0.0).rgb : tint.rgb;
  if (is_dot) {
    if (length(gl_PointCoord - 0.5) > 0.5) discard;
    pixel = vec4(hue, 1.0);
    return;
  }
  float light = 1.0;
  if (away > 0.0) {
    normal /= max(length(normal), 1e-20);
    float side = dot(normal, vec3(0.0, 0.0, away) - place) < 0.0 ? -1.0 : 1.0;
    light = max(side * dot(normal, vec3(${LIGHT.join(", ")})), 0.0);
  }
  pixel = vec4(hue * mix(is_scale ? ${AMBIENT_OF_SCALES} : ${AMBIENT}, 1.0, light), 1.0);
}`;

/** Four corners of a rectangle for each line; `across` is the distance from the line in pixels. */
const LINE_VERTEX_SHADER = `#version 300 es
layout(location = 0) in vec4 from;
layout(location = 1) in vec4 to;
uniform vec2 half_canvas;
uniform float width;
uniform vec2 fade;
out float across;
out float strength;
${CAMERA}
void main() {
  vec4 a = projected(turned(from.xyz));
  vec4 b = projected(turned(to.xyz));
  vec2 along = (b.xy / b.w - a.xy / a.w) * half_canvas;
  float size = length(along);
  along = size > 0.0 ? along / size : vec2(1.0, 0.0);
  float reach = 0.5 * width + 0.5;
  float side = (gl_VertexID & 1) == 0 ? -reach : reach;
  bool is_end = gl_VertexID > 1;
  gl_Position = is_end ? b : a;
  // A wide line ends beyond its end, so that lines meet without a notch.
  vec2 beyond = along * (is_end ? 1.0 : -1.0) * max(0.5 * width - 0.5, 0.0);
  gl_Position.xy += (side * vec2(-along.y, along.x) + beyond) / half_canvas * gl_Position.w;
  // Times depth: divided by it in the fragment shader, the distance is even on the screen.
  across = side * gl_Position.w;
  strength = smoothstep(fade.x, fade.y, size);
}`;

const LINE_FRAGMENT_SHADER = `#version 300 es
precision highp float;
uniform vec4 ink;
uniform float width;
in float across;
in float strength;
out vec4 pixel;
void main() {
  float covered = clamp(0.5 * width + 0.5 - abs(across * gl_FragCoord.w), 0.0, 1.0);
  pixel = vec4(ink.rgb, 1.0) * ink.a * covered * strength;
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

  /** Compiles the programs. */
  prepare() {
    const { gl } = this;
    this.faces = this.program(VERTEX_SHADER, FRAGMENT_SHADER, ["is_dot", "dot_size"]);
    this.lines = this.program(LINE_VERTEX_SHADER, LINE_FRAGMENT_SHADER, ["half_canvas", "width", "fade", "ink"]);
    this.buffers = {};
    for (const name of ["corners", "colors", "edges", "segments"]) {
      this.buffers[name] = gl.createBuffer();
    }
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
    gl.polygonOffset(1.5, 1);
  }

  /** A program with the places of the camera's uniforms and of others. */
  program(vertex, fragment, names) {
    const { gl } = this;
    const program = gl.createProgram();
    for (const [type, source] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
      const shader = gl.createShader(type);
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
      if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS) && !gl.isContextLost()) {
        throw new Error(`a shader does not compile: ${gl.getShaderInfoLog(shader)}`);
      }
    }
    gl.linkProgram(program);
    const uniforms = {};
    for (const name of ["sizes", "rotation", "frame", "away", ...names]) {
      uniforms[name] = gl.getUniformLocation(program, name);
    }
    return { program, uniforms };
  }

  fill(buffer, data) {
    this.gl.bindBuffer(this.gl.ARRAY_BUFFER, buffer);
    this.gl.bufferData(this.gl.ARRAY_BUFFER, data, this.gl.STATIC_DRAW);
  }

  /** Takes a mesh and what is seen of it. */
  setMesh(mesh, seen) {
    [this.mesh, this.seen] = [mesh, seen];
    let corners = seen.triangles;
    if (!mesh.isCloud) {
      corners = new Uint32Array(3 * seen.triangles.length);
      seen.triangles.forEach((t, i) => corners.set(mesh.triangles.subarray(3 * t, 3 * t + 3), 3 * i));
    }
    this.counts = {
      corners: this.fillPlaces("corners", corners),
      edges: this.fillPlaces("edges", seenEdges(mesh, seen)) / 2,
      segments: this.fillPlaces("segments", mesh.segments) / 2,
    };
  }

  /** Fills a buffer with the places of vertices; returns their number. */
  fillPlaces(buffer, vertices) {
    const { steps } = this.mesh;
    const places = new Uint16Array(4 * vertices.length);
    vertices.forEach((v, i) => {
      places[4 * i] = steps[3 * v];
      places[4 * i + 1] = steps[3 * v + 1];
      places[4 * i + 2] = steps[3 * v + 2];
    });
    this.fill(this.buffers[buffer], places);
    return vertices.length;
  }

  /** The colour of each corner, or its place on a ramp. */
  setColors(colors, ramp) {
    const { gl } = this;
    [this.colors, this.ramp] = [colors, ramp];
    this.fill(this.buffers.colors, colors);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, 256, 1, 0, gl.RGBA, gl.UNSIGNED_BYTE, ramp);
  }

  draw(frame, mode, theme) {
    const { gl, canvas, buffers, counts, mesh } = this;
    gl.viewport(0, 0, canvas.width, canvas.height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    if (mesh.isCloud || mode !== "edges") {
      this.drawFaces(frame);
    }
    gl.enable(gl.BLEND);
    gl.depthMask(false);
    if (mode === "edged") {
      this.drawLines(frame, buffers.edges, counts.edges, theme.edge, EDGE_WIDTH, [NO_EDGE, WHOLE_EDGE], theme.ratio);
    } else if (mode === "edges") {
      this.drawLines(frame, buffers.edges, counts.edges, theme.wire, EDGE_WIDTH, [-1, 0], theme.ratio);
    }
    this.drawLines(frame, buffers.segments, counts.segments, theme.segment, SEGMENT_WIDTH, [-1, 0], theme.ratio);
    gl.depthMask(true);
    gl.disable(gl.BLEND);
  }

  drawFaces(frame) {
    const { gl, canvas, buffers, counts, mesh } = this;
    const { uniforms } = this.use(this.faces, frame);
    this.attribute(0, buffers.corners, gl.UNSIGNED_SHORT, 8, 0, 0);
    this.attribute(1, buffers.colors, gl.UNSIGNED_BYTE, 4, 0, 0);
    gl.uniform1i(uniforms.is_dot, Number(mesh.isCloud));
    if (mesh.isCloud) {
      gl.uniform1f(uniforms.dot_size, dotSize(mesh, frame, Math.min(canvas.width, canvas.height) / 2));
      gl.drawArrays(gl.POINTS, 0, counts.corners);
    } else {
      // Faces a little farther away than lines on them.
      gl.enable(gl.POLYGON_OFFSET_FILL);
      gl.drawArrays(gl.TRIANGLES, 0, counts.corners);
      gl.disable(gl.POLYGON_OFFSET_FILL);
    }
  }

  /** Draws lines of a width in CSS pixels. */
  drawLines(frame, buffer, count, color, width, fade, ratio) {
    if (count === 0) {
      return;
    }
    const { gl, canvas } = this;
    const { uniforms } = this.use(this.lines, frame);
    this.attribute(0, buffer, gl.UNSIGNED_SHORT, 16, 0, 1);
    this.attribute(1, buffer, gl.UNSIGNED_SHORT, 16, 8, 1);
    const [r, g, b, a] = parseColor(color);
    gl.uniform4f(uniforms.ink, r / 255, g / 255, b / 255, a);
    // A line narrower than a pixel would be pale.
    gl.uniform1f(uniforms.width, width * Math.max(ratio, 1));
    gl.uniform2f(uniforms.fade, fade[0] * ratio, fade[1] * ratio);
    gl.uniform2f(uniforms.half_canvas, canvas.width / 2, canvas.height / 2);
    gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, count);
  }

  /** Takes a program, and sets its camera. */
  use(program, frame) {
    const { gl, canvas } = this;
    const { uniforms } = program;
    const half = Math.min(canvas.width, canvas.height) / 2;
    const [x, y] = [half / (canvas.width / 2), half / (canvas.height / 2)];
    gl.useProgram(program.program);
    gl.uniform3fv(uniforms.sizes, this.box.sizes);
    gl.uniformMatrix3fv(uniforms.rotation, false, [0, 1, 2].flatMap((column) => frame.rows.map((row) => row[column])));
    gl.uniform4f(uniforms.frame, frame.scale * x, frame.scale * y, frame.shift[0] * x, frame.shift[1] * y);
    gl.uniform1f(uniforms.away, frame.distance);
    return program;
  }

  /** Four numbers, which stand for 0 to 1: of each corner, or with `divisor` 1 of each line. */
  attribute(index, buffer, type, stride, offset, divisor) {
    const { gl } = this;
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.enableVertexAttribArray(index);
    gl.vertexAttribPointer(index, 4, type, true, stride, offset);
    gl.vertexAttribDivisor(index, divisor);
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
