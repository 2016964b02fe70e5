//! Ids of elements.

/// Declares ids: types of a `u32` each, so that two arrays of different ids cannot be swapped.
///
/// ```
/// trioxide_kernel::id! {
///     /// A vertex of a mesh.
///     pub struct Vertex = "vertex";
/// }
/// assert_eq!(Vertex::new(3).index(), 3);
/// assert!(Vertex::NONE.is_none());
/// assert_eq!(format!("{:?}", Vertex::new(3)), "vertex 3");
/// ```
///
/// An id may be one of several parts of another: `pub struct HalfEdge = "half-edge", 3 of Triangle;`. Then a kernel
/// over triangles reads and writes its own triangle's half-edges by [`Own::part`](crate::safe::Own::part).
#[macro_export]
macro_rules! id {
    (@whole $id:ident) => { $id };
    (@whole $id:ident $per:literal of $whole:ident) => { $whole };
    (@per) => { 1 };
    (@per $per:literal) => { $per };
    ($(
        $(#[$attribute:meta])*
        $visibility:vis struct $id:ident = $name:literal $(, $per:literal of $whole:ident)?;
    )*) => { $(
        $(#[$attribute])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(transparent)]
        $visibility struct $id(u32);

        impl $id {
            /// No element: the largest number.
            pub const NONE: Self = Self(u32::MAX);

            /// Element number `index`.
            #[inline(always)]
            pub const fn new(index: u32) -> Self {
                Self(index)
            }

            /// Its number.
            #[inline(always)]
            pub const fn index(self) -> u32 {
                self.0
            }

            /// Whether this is [`Self::NONE`].
            #[inline(always)]
            pub const fn is_none(self) -> bool {
                self.0 == u32::MAX
            }

            /// Whether this is an element.
            #[inline(always)]
            pub const fn is_some(self) -> bool {
                !self.is_none()
            }
        }

        impl core::fmt::Debug for $id {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                match self.is_none() {
                    true => f.write_str(concat!("no ", $name)),
                    false => write!(f, concat!($name, " {}"), self.0),
                }
            }
        }

        impl core::fmt::Display for $id {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                core::fmt::Debug::fmt(self, f)
            }
        }

        // SAFETY: a transparent `u32`.
        unsafe impl $crate::bytemuck::Zeroable for $id {}
        // SAFETY: a transparent `u32`.
        unsafe impl $crate::bytemuck::Pod for $id {}
        // SAFETY: a transparent `u32`.
        unsafe impl $crate::Word for $id {}
        impl $crate::Scalar for $id {}
        // SAFETY: a transparent `u32`.
        unsafe impl $crate::view::AtomicElement for $id {
            type Bits = u32;
        }

        impl $crate::view::OrderedElement for $id {}

        impl $crate::Index for $id {
            type Word = $crate::Bits<Self>;
            type Whole = $crate::id!(@whole $id $($per of $whole)?);
            const PER: u32 = $crate::id!(@per $($per)?);

            #[inline(always)]
            fn index(self) -> u32 {
                self.0
            }

            #[inline(always)]
            fn from_index(index: u32) -> Self {
                Self(index)
            }
        }
    )* };
}
