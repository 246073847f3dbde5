// SPDX-License-Identifier: BSL-1.0
// expect: tenure: least_squares: tn::rows.table, index. come before the data of the observations
#include <tenure/sparse.hpp>
namespace tn = tenure;

using table = tn::tensor<double, tn::shape<tn::dyn, 2>>;
using row_index = tn::tensor<std::int32_t, tn::shape<tn::dyn>>;
constexpr auto f = [](auto p, auto q, auto y) { return p - q - y; };
#ifdef TENURE_MISUSE
auto g(table& p, const row_index& i, const row_index& j, const table& y) { return tn::least_squares(f)(tn::rows(p, i), y, tn::rows(p, j)); }
#else
auto g(table& p, const row_index& i, const row_index& j, const table& y) { return tn::least_squares(f)(tn::rows(p, i), tn::rows(p, j), y); }
#endif
