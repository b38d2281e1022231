// halves.h: conversion of arrays between 16-bit floats and float, by hardware instructions where there are any.
#pragma once

#include "arithmetic/math/scalar.h"

namespace stillflow {

// As Widen and Narrow do it, NaN included.
void WidenHalves(const Half* from, int64_t count, float* to);
void WidenHalves(const BFloat16* from, int64_t count, float* to);
void NarrowToHalves(const float* from, int64_t count, Half* to);

}  // namespace stillflow
