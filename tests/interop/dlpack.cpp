// SPDX-License-Identifier: BSL-1.0
// DLPack in both directions: the memory outlives both sides, deleters run once, flags and types agree on what may be written.
#include <cstddef>

#include <tenure/interop/dlpack.hpp>
#include <tenure/tenure.hpp>

#include "catch.hpp"

#if __has_include(<ATen/dlpack.h>)
#include <ATen/dlpack.h>
#endif

namespace tn = tenure;
namespace dlpack = tenure::dlpack;
using tn::shape;

#if __has_include(<ATen/dlpack.h>)
// The real thing, where libtorch is installed.
static_assert(sizeof(dlpack::tensor_view) == sizeof(DLTensor) && sizeof(dlpack::unversioned_tensor) == sizeof(DLManagedTensor));
static_assert(offsetof(dlpack::tensor_view, device) == offsetof(DLTensor, device) && offsetof(dlpack::tensor_view, rank) == offsetof(DLTensor, ndim));
static_assert(offsetof(dlpack::tensor_view, type) == offsetof(DLTensor, dtype) && offsetof(dlpack::tensor_view, shape) == offsetof(DLTensor, shape));
static_assert(offsetof(dlpack::tensor_view, strides) == offsetof(DLTensor, strides) && offsetof(dlpack::tensor_view, byte_offset) == offsetof(DLTensor, byte_offset));
static_assert(offsetof(dlpack::unversioned_tensor, context) == offsetof(DLManagedTensor, manager_ctx));
static_assert(offsetof(dlpack::unversioned_tensor, deleter) == offsetof(DLManagedTensor, deleter));
#if DLPACK_MAJOR_VERSION > 1 || (DLPACK_MAJOR_VERSION == 1 && DLPACK_MINOR_VERSION >= 3)
static_assert(sizeof(dlpack::exchange_api) == sizeof(DLPackExchangeAPI) && offsetof(dlpack::exchange_api, previous) == offsetof(DLPackExchangeAPI, header.prev_api));
static_assert(offsetof(dlpack::exchange_api, from_object) == offsetof(DLPackExchangeAPI, managed_tensor_from_py_object_no_sync));
static_assert(offsetof(dlpack::exchange_api, to_object) == offsetof(DLPackExchangeAPI, managed_tensor_to_py_object_no_sync));
static_assert(offsetof(dlpack::exchange_api, view_object) == offsetof(DLPackExchangeAPI, dltensor_from_py_object_no_sync));
static_assert(offsetof(dlpack::exchange_api, current_stream) == offsetof(DLPackExchangeAPI, current_work_stream));
#endif
static_assert(static_cast<int>(dlpack::type_code::floating) == kDLFloat && static_cast<int>(dlpack::type_code::integer) == kDLInt);
#endif

namespace {

/// A library that lends six floats, and counts how often they are handed back.
struct lender {
  float memory[6] = {1, 2, 3, 4, 5, 6};
  std::int64_t shape[2] = {2, 3}, strides[2] = {3, 1};
  int returned = 0;
  dlpack::managed_tensor m{1, 1, this, [](dlpack::managed_tensor* self) { ++static_cast<lender*>(self->context)->returned; }, 0,
                           {memory, {1, 0}, 2, dlpack::type_of<float>, shape, strides, 0}};
};

}  // namespace

TEST_CASE("a lent tensor keeps its memory, and says its type, extents and strides") {
  dlpack::handle<dlpack::managed_tensor> lent;
  {
    tn::tensor<float, shape<2, 3>> x{{1, 2, 3}, {4, 5, 6}};
    auto turned = x.transpose();
    lent = tn::to_dlpack(turned);
    CHECK(x.version() == 1);
    x.add_(10);
  }
  const dlpack::tensor_view& v = lent->view;
  CHECK(lent->major_version == 1);
  CHECK(lent->flags == 0);
  CHECK(v.device.type == 1);
  CHECK(v.rank == 2);
  CHECK(v.byte_offset == 0);
  CHECK(v.type.code == dlpack::type_code::floating);
  CHECK(v.type.bits == 32);
  CHECK(v.type.lanes == 1);
  CHECK(v.shape[0] == 3);
  CHECK(v.shape[1] == 2);
  CHECK(v.strides[0] == 1);
  CHECK(v.strides[1] == 3);
  CHECK(static_cast<const float*>(v.data)[5] == 16);
  dlpack::managed_tensor* const bare = lent.release();  // as a capsule takes it
  bare->deleter(bare);
}

TEST_CASE("what may not be written is lent with the flag, and leaves the version alone") {
  const tn::tensor<std::int64_t, shape<>> x(7);
  const auto lent = tn::to_dlpack(x);
  CHECK(lent->flags == dlpack::managed_tensor::read_only);
  CHECK(lent->view.rank == 0);
  CHECK(x.version() == 0);
  CHECK(lent->view.type.code == dlpack::type_code::integer);
  tn::tensor<bool, shape<1>> flag{true};
  auto wide = flag.expand<4>();
  const auto expanded = tn::to_dlpack(wide);
  CHECK(expanded->flags == 1);
  CHECK(expanded->view.strides[0] == 0);
  CHECK(expanded->view.type.code == dlpack::type_code::boolean);
}

TEST_CASE("a writable export throws while a graph has saved the storage") {
  const auto w = tn::variable<double, shape<2>>{1, 2};
  tn::tensor y = w * 1;
  auto alias = y.detach();
  const tn::tensor z = y * y;
  CHECK_THROWS_AS(tn::to_dlpack(alias), tn::ownership_error);
  const auto& looked_at = alias;
  CHECK(tn::to_dlpack(looked_at)->flags == 1);
  sum(z).backward();
  CHECK(tn::to_dlpack(alias)->flags == 0);
}

// Law: the memory lives as long as either side uses it, and a deleter runs once.
TEST_CASE("borrowed memory is handed back once, with the last tensor over it") {
  lender from;
  {
    auto x = tn::from_dlpack<float, shape<tn::dyn, 3>>(&from.m);
    static_assert(tn::ownership_of_v<decltype(x)> == tn::ownership::aliasing);
    CHECK(x.data() == from.memory);
    CHECK(x.extent(0) == 2);
    CHECK(x(1, 2) == 6);
    auto row = x[1];
    x.mul_(2);
    CHECK(from.memory[5] == 12);
    const auto again = tn::to_dlpack(row);
    CHECK(again->view.data == from.memory + 3);
    const auto w = x.clone().requires_grad_();
    sum(w * x).backward();
    CHECK(w.grad()(0, 1) == 4);
    CHECK(from.returned == 0);
  }
  CHECK(from.returned == 1);
}

TEST_CASE("strides, offsets and the older struct") {
  lender from;
  from.strides[0] = 1, from.strides[1] = 2;
  CHECK(tn::from_dlpack<float, shape<2, 3>>(&from.m)(1, 2) == 6);
  from.m.view.strides = nullptr;
  from.m.view.rank = 1;
  from.shape[0] = 4;
  from.m.view.byte_offset = 8;
  CHECK(tn::from_dlpack<float, shape<4>>(&from.m)(0) == 3);
  CHECK(from.returned == 2);
  tn::tensor<float, shape<2>> x{1, 2};
  auto old = tn::to_dlpack<dlpack::unversioned_tensor>(x);
  const auto back = tn::from_dlpack<float, shape<tn::dyn>>(std::move(old));
  CHECK_FALSE(old);
  CHECK(back.data() == x.data());
}

TEST_CASE("bfloat16 is lent and borrowed as DLPack's bfloat16") {
  STATIC_REQUIRE(static_cast<int>(dlpack::type_of<tn::bfloat16>.code) == 4);
  STATIC_REQUIRE(dlpack::type_of<tn::bfloat16>.bits == 16);
  tn::tensor<tn::bfloat16, shape<2>> x{1, -2.5};
  auto lent = tn::to_dlpack(x);
  const auto back = tn::from_dlpack<tn::bfloat16, shape<2>>(std::move(lent));
  CHECK(back(1) == -2.5f);
  lender of_floats;
  CHECK_THROWS_AS((tn::from_dlpack<tn::bfloat16, shape<2, 3>>(&of_floats.m)), tn::shape_error);
}

TEST_CASE("read-only memory gives a read-only tensor or none") {
  lender from;
  from.m.flags = dlpack::managed_tensor::read_only;
  CHECK_THROWS_AS((tn::from_dlpack<float, shape<2, 3>>(&from.m)), tn::ownership_error);
  {
    const auto x = tn::from_dlpack<const float, shape<2, 3>>(&from.m);
    static_assert(tn::access_of_v<decltype(x)> == tn::access::read_only && std::is_same_v<tn::element_t<decltype(x)>, float>);
  }
  CHECK(from.returned == 1);
}

TEST_CASE("what cannot be borrowed stays the lender's") {
  lender from;
  const auto refused = [&](auto change, auto error) {
    lender l;
    change(l);
    using expected = decltype(error);
    CHECK_THROWS_AS((tn::from_dlpack<float, shape<2, 3>>(&l.m)), expected);
    CHECK(l.returned == 0);
  };
  refused([](lender& l) { l.m.major_version = 2; }, tn::ownership_error(""));
  refused([](lender& l) { l.m.view.device.type = 2; }, tn::ownership_error(""));
  refused([](lender& l) { l.m.view.type.bits = 64; }, tn::shape_error(""));
  refused([](lender& l) { l.m.view.type.lanes = 4; }, tn::shape_error(""));
  refused([](lender& l) { l.m.view.type.code = dlpack::type_code::integer; }, tn::shape_error(""));
  refused([](lender& l) { l.m.view.rank = 1; }, tn::shape_error(""));
  refused([](lender& l) { l.shape[1] = 2; }, tn::shape_error(""));
  refused([](lender& l) { l.strides[1] = -1; }, tn::ownership_error(""));
  refused([](lender& l) { l.strides[0] = 0; }, tn::ownership_error(""));
  refused([](lender& l) { l.m.view.byte_offset = 2; }, tn::ownership_error(""));
  refused([](lender& l) { l.m.view.data = nullptr, l.m.view.byte_offset = 64; }, tn::ownership_error(""));
  refused([](lender& l) { l.m.view.byte_offset = std::uint64_t{0} - 4; }, tn::ownership_error(""));  // would be the address before
  auto handle = dlpack::handle<dlpack::managed_tensor>(&from.m);
  CHECK_THROWS_AS((tn::from_dlpack<double, shape<2, 3>>(std::move(handle))), tn::shape_error);
  CHECK(handle);
  CHECK(from.returned == 0);
  handle.reset();
  CHECK(from.returned == 1);
}

TEST_CASE("a library lends and takes arrays by its exchange api, and refuses some") {
  dlpack::exchange_api of_library{};
  of_library.major_version = 1;
  of_library.from_object = [](void* object, dlpack::managed_tensor** taken) {
    if (object == nullptr) return -1;
    *taken = &static_cast<lender*>(object)->m;
    return 0;
  };
  static dlpack::managed_tensor* kept = nullptr;
  of_library.to_object = [](dlpack::managed_tensor* given, void** made) {
    kept = given;
    *made = given->view.data;
    return given->view.rank == 1 ? 0 : -1;
  };
  dlpack::exchange_api newer{};
  newer.major_version = 2;
  CHECK(dlpack::version_1(&newer) == nullptr);
  CHECK(dlpack::version_1(nullptr) == nullptr);
  newer.previous = &of_library;
  const dlpack::exchange_api* const api = dlpack::version_1(&newer);
  REQUIRE(api == &of_library);

  lender library;
  {
    auto x = tn::from_dlpack<float, shape<2, 3>>(dlpack::from_object(*api, &library));
    x.at(1, 2) = 60;
    CHECK(library.returned == 0);
  }
  CHECK(library.returned == 1);
  CHECK(library.memory[5] == 60);
  CHECK(!dlpack::from_object(*api, nullptr));

  tn::tensor<double, shape<2>> y{7, 8};
  CHECK(dlpack::to_object(*api, tn::to_dlpack(y)) == y.data());
  dlpack::let_go{}(kept);
  tn::tensor<double, shape<1, 1>> matrix{{1}};
  CHECK(dlpack::to_object(*api, tn::to_dlpack(matrix)) == nullptr);  // the library has it all the same
  dlpack::let_go{}(kept);
}
