; Linked into every kernel crate. Dynamic shared memory is a symbol in address space 3, which Rust cannot declare: reached
; through it, the optimizer sees the address space and emits ld.shared and st.shared.
target triple = "nvptx64-nvidia-cuda"
@__dynamic_shared = external addrspace(3) global [0 x i8], align 16
define ptr @__dynamic_shared_base() alwaysinline nounwind {
  ret ptr addrspacecast (ptr addrspace(3) @__dynamic_shared to ptr)
}
; An address that arrived as a number, as one of global memory.
define ptr @__global_pointer(i64 %address) alwaysinline nounwind {
  %global = inttoptr i64 %address to ptr addrspace(1)
  %pointer = addrspacecast ptr addrspace(1) %global to ptr
  ret ptr %pointer
}
