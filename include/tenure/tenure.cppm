// SPDX-License-Identifier: BSL-1.0
// The named module: `import tenure;` in place of the includes below, for clang 19 or newer. It exports the public names, and this list is
// also what the reference describes (scripts/reference.py). Not in it: macros, such as BOOST_HANA_DEFINE_STRUCT; headers for .cu files; the
// headers of NumPy's files, Eigen, DLPack and mdspan, and of sparse least squares, which takes Eigen's factorization: a program includes them before
// the import.
module;

#include <tenure/debug_nans.hpp>
#include <tenure/freestanding.hpp>
#include <tenure/picture.hpp>
#include <tenure/profile.hpp>
#include <tenure/sparse.hpp>
#include <tenure/tenure.hpp>
#include <tenure/threads.hpp>

#include <tenure/interop/safetensors.hpp>
#include <tenure/optim/groups.hpp>
#include <tenure/optim/least_squares.hpp>

export module tenure;

export namespace tenure {

// ---- Shapes and element types -------------------------------------------------------------------
using tenure::shape;
using tenure::dyn;
using tenure::dim;
using tenure::dtype;
using tenure::any_shape;
using tenure::dtype_v;
using tenure::bfloat16;
using tenure::float16;
using tenure::element;
using tenure::extents;
using tenure::max_rank;
using tenure::promote;

// ---- Tensors ------------------------------------------------------------------------------------
using tenure::tensor;
using tenure::variable;
using tenure::ownership;
using tenure::role;
using tenure::access;
using tenure::access_of_v;
using tenure::any_tensor;
using tenure::cpu;
using tenure::cpu_device;
using tenure::cuda;
using tenure::cuda_device;
using tenure::deepcopy;
using tenure::device_of_t;
using tenure::element_t;
using tenure::is_leaf_v;
using tenure::is_node_v;
using tenure::memory_view;
using tenure::ownership_of_v;
using tenure::requires_grad_v;
using tenure::role_of_v;
using tenure::scalar;
using tenure::shape_of_t;
using tenure::to;
using tenure::uninitialized;

// ---- Making tensors -----------------------------------------------------------------------------
using tenure::zeros;
using tenure::ones;
using tenure::full;
using tenure::empty;
using tenure::eye;
using tenure::arange;
using tenure::linspace;
using tenure::from;
using tenure::as_span;
using tenure::engine;
using tenure::uniform;
using tenure::normal;
using tenure::empty_like;
using tenure::eye_like;
using tenure::full_like;
using tenure::ones_like;
using tenure::random_engine;
using tenure::zeros_like;

// ---- Indices ------------------------------------------------------------------------------------
using tenure::range;
using tenure::window;
using tenure::all;
using tenure::end;
using tenure::axis;
using tenure::axes;
using tenure::keepdim;

// ---- Arithmetic and comparison ------------------------------------------------------------------
using tenure::operator+;
using tenure::operator-;
using tenure::operator*;
using tenure::operator/;
using tenure::operator%;
using tenure::operator==;
using tenure::operator!=;
using tenure::operator<;
using tenure::operator<=;
using tenure::operator>;
using tenure::operator>=;
using tenure::operator!;
using tenure::operator&&;
using tenure::operator||;
using tenure::operator&;
using tenure::operator|;
using tenure::operator^;
using tenure::operator~;
using tenure::abs;
using tenure::cast;
using tenure::ceil;
using tenure::clamp;
using tenure::clamp_max;
using tenure::clamp_min;
using tenure::floor;
using tenure::floor_divide;
using tenure::isfinite;
using tenure::isinf;
using tenure::isnan;
using tenure::fmax;
using tenure::fmin;
using tenure::fmod;
using tenure::fabs;
using tenure::lerp;
using tenure::maximum;
using tenure::minimum;
using tenure::reciprocal;
using tenure::remainder;
using tenure::round;
using tenure::sign;
using tenure::square;
using tenure::trunc;
using tenure::where;

// ---- Exponentials, trigonometry, activations ----------------------------------------------------
using tenure::acos;
using tenure::acosh;
using tenure::asin;
using tenure::asinh;
using tenure::atan;
using tenure::atan2;
using tenure::atanh;
using tenure::betainc;
using tenure::cos;
using tenure::cosh;
using tenure::digamma;
using tenure::elu;
using tenure::erf;
using tenure::erfc;
using tenure::erfcx;
using tenure::erfinv;
using tenure::exp;
using tenure::exp2;
using tenure::expm1;
using tenure::gammainc;
using tenure::gammaincc;
using tenure::gelu;
using tenure::gelu_tanh;
using tenure::hardtanh;
using tenure::hypot;
using tenure::i0e;
using tenure::i1e;
using tenure::leaky_relu;
using tenure::lgamma;
using tenure::lbeta;
using tenure::log;
using tenure::log10;
using tenure::log1mexp;
using tenure::log1p;
using tenure::log2;
using tenure::log_normal_cdf;
using tenure::log_sigmoid;
using tenure::logaddexp;
using tenure::logit;
using tenure::mish;
using tenure::normal_cdf;
using tenure::normal_icdf;
using tenure::polygamma;
using tenure::pow;
using tenure::relu;
using tenure::relu6;
using tenure::rsqrt;
using tenure::selu;
using tenure::sigmoid;
using tenure::silu;
using tenure::sin;
using tenure::sinc;
using tenure::sinh;
using tenure::softplus;
using tenure::softsign;
using tenure::sqrt;
using tenure::tan;
using tenure::tanh;
using tenure::xlogy;

// ---- Reductions and order -----------------------------------------------------------------------
using tenure::amax;
using tenure::amin;
using tenure::any;
using tenure::argmax;
using tenure::argmin;
using tenure::argsort;
using tenure::argtopk;
using tenure::cumprod;
using tenure::cumsum;
using tenure::descending;
using tenure::log_softmax;
using tenure::logsumexp;
using tenure::max;
using tenure::mean;
using tenure::median;
using tenure::quantile;
using tenure::min;
using tenure::inf;
using tenure::infinite_power;
using tenure::norm;
using tenure::prod;
using tenure::smallest;
using tenure::softmax;
using tenure::sort;
using tenure::stddev;
using tenure::sum;
using tenure::topk;
using tenure::var;

// ---- Parts and rearrangement --------------------------------------------------------------------
using tenure::block;
using tenure::chunk;
using tenure::concat;
using tenure::csr;
using tenure::csr_block;
using tenure::diag;
using tenure::diagonal;
using tenure::expand;
using tenure::flip;
using tenure::gather;
using tenure::index_add;
using tenure::index_along;
using tenure::pad;
using tenure::permute;
using tenure::pick;
using tenure::repeat;
using tenure::reshape;
using tenure::roll;
using tenure::select;
using tenure::hstack;
using tenure::slice;
using tenure::split;
using tenure::squeeze;
using tenure::stack;
using tenure::vstack;
using tenure::take_along;
using tenure::transpose;
using tenure::tril;
using tenure::triu;
using tenure::unbind;
using tenure::unsqueeze;
using tenure::windows;

// ---- Random numbers in compiled functions --------------------------------------------------------
using tenure::random_key;
using tenure::fold_in;
using tenure::split_key;
using tenure::bernoulli;
using tenure::categorical;
using tenure::cauchy;
using tenure::cauchy_like;
using tenure::dropout;
using tenure::exponential;
using tenure::exponential_like;
using tenure::keep_top_k;
using tenure::keep_top_p;
using tenure::dequantize;
using tenure::quantize;
using tenure::quantized_linear;
using tenure::laplace;
using tenure::laplace_like;
using tenure::log_normal;
using tenure::normal_like;
using tenure::uniform_like;

// ---- Products and equations ---------------------------------------------------------------------
using tenure::attention;
using tenure::causal;
using tenure::causal_from;
using tenure::causal_rows;
using tenure::first_rows;
using tenure::first_rows_of;
using tenure::conv;
using tenure::conv1d;
using tenure::conv2d;
using tenure::conv3d;
using tenure::conv_padding;
using tenure::conv_transpose1d;
using tenure::conv_transpose2d;
using tenure::image_layout;
using tenure::nchw;
using tenure::nhwc;
using tenure::per_axis;
using tenure::same;
using tenure::same_t;
using tenure::bilinear;
using tenure::interpolate;
using tenure::nearest;
using tenure::resize;
using tenure::resize_mode;
using tenure::adaptive;
using tenure::adaptive_avg_pool1d;
using tenure::adaptive_avg_pool2d;
using tenure::adaptive_max_pool1d;
using tenure::adaptive_max_pool2d;
using tenure::avg_pool1d;
using tenure::avg_pool2d;
using tenure::max_pool1d;
using tenure::max_pool2d;
using tenure::pool;
using tenure::checked;
using tenure::cross;
using tenure::dot;
using tenure::kron;
using tenure::einsum;
using tenure::einsum_text;
using tenure::linear;
using tenure::matmul;
using tenure::matrix_norm;
using tenure::nuclear;
using tenure::matrix_power;
using tenure::normalize;
using tenure::outer;
using tenure::quat_exp;
using tenure::quat_log;
using tenure::quat_mul;
using tenure::quat_rotate;
using tenure::quat_to_matrix;
using tenure::cg;
using tenure::gmres;
using tenure::krylov_options;
using tenure::linear_solve;
using tenure::root;
using tenure::symmetric;
using tenure::symmetric_option;
using tenure::se3_exp;
using tenure::se3_inverse;
using tenure::se3_log;
using tenure::skew;
using tenure::so3_exp;
using tenure::so3_log;
using tenure::solve;
using tenure::solve_triangular;
using tenure::cholesky;
using tenure::cholesky_solve;
using tenure::positive_definite;
using tenure::positive_definite_t;
using tenure::inverse;
using tenure::det;
using tenure::slogdet;
using tenure::eigh;
using tenure::eigvalsh;
using tenure::svd;
using tenure::svdvals;
using tenure::pinv;
using tenure::lstsq;
using tenure::matrix_exp;
using tenure::eig;
using tenure::fft;
using tenure::complex;
using tenure::lu;
using tenure::qr;
using tenure::lower;
using tenure::trace;
using tenure::upper;
using tenure::vdot;
using tenure::triangle_t;

// ---- Losses and normalization -------------------------------------------------------------------
using tenure::batch_norm;
using tenure::bce;
using tenure::bce_with_logits;
using tenure::class_weights;
using tenure::cross_entropy;
using tenure::group_norm;
using tenure::huber;
using tenure::ignore_index;
using tenure::instance_norm;
using tenure::l1;
using tenure::label_smoothing;
using tenure::layer_norm;
using tenure::mse;
using tenure::nll;
using tenure::rms_norm;
using tenure::smooth_l1;
namespace reduction {
using tenure::reduction::mean;
using tenure::reduction::none;
using tenure::reduction::sum;
}

// ---- Eager evaluation and gradients -------------------------------------------------------------
using tenure::eval;
using tenure::expression;
using tenure::no_grad;
using tenure::retain_graph;
using tenure::stop_gradient;

// ---- Compiled functions -------------------------------------------------------------------------
using tenure::compile;
using tenure::has_aux;
using tenure::has_aux_t;
using tenure::value_and_grad;
using tenure::grad;
using tenure::vjp;
using tenure::jvp;
using tenure::jacobian;
using tenure::jacfwd;
using tenure::jacrev;
using tenure::hessian;
using tenure::hvp;
using tenure::linearize;
using tenure::vmap;
using tenure::unmapped;
using tenure::as_numbers;
using tenure::traced_number;
using tenure::autocast;
using tenure::checkpoint;
using tenure::save_products;
using tenure::custom_jvp;
using tenure::custom_vjp;
using tenure::extern_op;
using tenure::whole_batch;
using tenure::like;
using tenure::result;

// ---- Loops and branches -------------------------------------------------------------------------
using tenure::at_most;
using tenure::cond;
using tenure::dynamic_slice;
using tenure::dynamic_update;
using tenure::extent;
using tenure::fori_loop;
using tenure::nothing;
using tenure::scan;
using tenure::scan_options;
using tenure::switch_case;
using tenure::while_loop;

// ---- Models and optimizers ----------------------------------------------------------------------
using tenure::param;
using tenure::stacked;
using tenure::mark;
using tenure::no_decay;
using tenure::init;
using tenure::init_matmul;
using tenure::init_linear;
using tenure::init_zeros;
using tenure::init_ones;
using tenure::train_step;
using tenure::micro_batches;
using tenure::each_part;
using tenure::every_part;
using tenure::least_squares;
using tenure::levenberg_marquardt;
using tenure::minimize;
using tenure::rows;
using tenure::save;
using tenure::load;
using tenure::load_options;
using tenure::save_options;
using tenure::renaming;
using tenure::map_model;
using tenure::mapped_file;
using tenure::borrowed_values;
using tenure::map;
using tenure::for_each_leaf;
using tenure::for_each_named_leaf;
using tenure::clip_by_global_norm;
using tenure::tracing;
using tenure::values;
using tenure::values_on;
using tenure::covariance;
using tenure::cholesky_factor;
namespace log_density {
using tenure::log_density::bernoulli_logit;
using tenure::log_density::beta;
using tenure::log_density::binomial;
using tenure::log_density::categorical_logit;
using tenure::log_density::cauchy;
using tenure::log_density::dirichlet;
using tenure::log_density::exponential;
using tenure::log_density::gamma;
using tenure::log_density::inverse_gamma;
using tenure::log_density::laplace;
using tenure::log_density::lkj_cholesky;
using tenure::log_density::log_normal;
using tenure::log_density::multivariate_normal;
using tenure::log_density::normal;
using tenure::log_density::poisson;
using tenure::log_density::student_t;
}  // namespace log_density
namespace robust {
using tenure::robust::cauchy;
using tenure::robust::huber;
using tenure::robust::none;
using tenure::robust::tukey;
}  // namespace robust
namespace optim {
using tenure::optim::adam;
using tenure::optim::clipped;
using tenure::optim::group;
using tenure::optim::groups;
using tenure::optim::lbfgs;
using tenure::optim::minimum;
using tenure::optim::sgd;
using tenure::optim::state;
using tenure::optim::stop;
using tenure::optim::vectors;
using tenure::optim::warmup_cosine;
}

// ---- Plans and profiles -------------------------------------------------------------------------
using tenure::operator<<;
using tenure::call_profile;
using tenure::picture_text;
using tenure::plan;
using tenure::print;
using tenure::profile;
using tenure::profiled_step;
using tenure::to_dot;
using tenure::to_html;
using tenure::to_text;
using tenure::write_html;

// ---- Microcontrollers ---------------------------------------------------------------------------
using tenure::fixed;
using tenure::fixed_values;
using tenure::workspace;

// ---- NaN and infinity ---------------------------------------------------------------------------
using tenure::debug_nans;
using tenure::debug_nans_scope;
using tenure::nan_error;

// ---- Threads, memory and the processor ----------------------------------------------------------
using tenure::flush_denormals;
using tenure::memory_pool;
using tenure::sequential;
using tenure::thread_pool;

// ---- Errors -------------------------------------------------------------------------------------
using tenure::error;
using tenure::index_error;
using tenure::io_error;
using tenure::overlap_error;
using tenure::ownership_error;
using tenure::shape_error;

}
