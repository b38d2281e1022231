#include "math/scalar.h"
#ifndef __FMA__
namespace stillflow { double Fma(double a,double b,double c){return std::fma(a,b,c);} }
#endif
