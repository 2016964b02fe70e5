//! cuda_std
#![no_std]
