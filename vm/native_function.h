// Binds C++ functions as functions of native modules:
//
//   Result<int64_t> length(MyState& state, Required<Buffer> buffer, int32_t flags);
//   const NativeFunction functions[] = {bind<length>("buffer.length")};   // "0ri_I"
//
// The first parameter is the module's state (a class derived from NativeState); a NativeCall& may
// follow it. Arguments: (u)int32_t i, (u)int64_t I, float f, double F, T* r (null allowed),
// Required<T> r (null refused), RawRef r (any type), Span<A, B, ...> C..D. Results: Result<void>,
// Result<R>, Result<std::tuple<R...>> with R a number, RefPtr<T> or Ref; Result<Yielding<R...>> for
// a function that may defer.
#pragma once

#include <array>
#include <tuple>
#include <type_traits>
#include <utility>

#include "vm/native_module.h"

namespace bessemer::vm {

// A reference argument that may not be null.
template <class T>
class Required {
public:
  explicit Required(T* object) : object_(object) {}
  operator T*() const { return object_; }
  T* get() const { return object_; }
  T* operator->() const { return object_; }
  T& operator*() const { return *object_; }

private:
  T* object_;
};

template <class... Ts>
class Span;

// What a function that may defer returns: its results, or Outcome::Deferred.
template <class... Rs>
class Yielding {
public:
  Yielding(Outcome outcome) : outcome_(outcome) {}
  Yielding(Rs... results) : results_(std::move(results)...) {}
  bool deferred() const { return outcome_ == Outcome::Deferred; }
  std::tuple<Rs...>& results() { return results_; }

private:
  Outcome outcome_ = Outcome::Done;
  std::tuple<Rs...> results_;
};

namespace detail {

// Codec<T>: the letter of T, its number of slots, checking and reading an argument, writing a
// result.
template <class T>
struct Codec;

template <class T, char Letter, auto Member>
struct NumberCodec {
  static constexpr std::array<char, 1> letters{Letter};
  static Result<size_t> check(const Slot*, size_t) { return 1; }
  static T read(const Slot* slot) { return static_cast<T>(slot->*Member); }
  static void write(Slot* slot, T value) {
    slot->*Member = static_cast<std::remove_reference_t<decltype(slot->*Member)>>(value);
  }
};
template <>
struct Codec<int32_t> : NumberCodec<int32_t, 'i', &Slot::i32> {};
template <>
struct Codec<uint32_t> : NumberCodec<uint32_t, 'i', &Slot::i32> {};
template <>
struct Codec<int64_t> : NumberCodec<int64_t, 'I', &Slot::i64> {};
template <>
struct Codec<uint64_t> : NumberCodec<uint64_t, 'I', &Slot::i64> {};
template <>
struct Codec<float> : NumberCodec<float, 'f', &Slot::f32> {};
template <>
struct Codec<double> : NumberCodec<double, 'F', &Slot::f64> {};

// Cold: the text of a wrong reference.
std::unexpected<Error> wrongReference(size_t index, std::string_view expected, RawRef found);

template <class T>
struct Codec<T*> {
  static constexpr std::array<char, 1> letters{'r'};
  static Result<size_t> check(const Slot* slot, size_t index) {
    if (slot->ref.object && slot->ref.type != &RefTraits<T>::type()) [[unlikely]]
      return wrongReference(index, RefTraits<T>::type().name, slot->ref);
    return 1;
  }
  static T* read(const Slot* slot) { return static_cast<T*>(slot->ref.object); }
};
template <class T>
struct Codec<Required<T>> {
  static constexpr std::array<char, 1> letters{'r'};
  static Result<size_t> check(const Slot* slot, size_t index) {
    if (!slot->ref.object || slot->ref.type != &RefTraits<T>::type()) [[unlikely]]
      return wrongReference(index, RefTraits<T>::type().name, slot->ref);
    return 1;
  }
  static Required<T> read(const Slot* slot) {
    return Required<T>(static_cast<T*>(slot->ref.object));
  }
};
template <>
struct Codec<RawRef> {
  static constexpr std::array<char, 1> letters{'r'};
  static Result<size_t> check(const Slot*, size_t) { return 1; }
  static RawRef read(const Slot* slot) { return slot->ref; }
};
template <class T>
struct Codec<RefPtr<T>> {
  static constexpr std::array<char, 1> letters{'r'};
  static void write(Slot* slot, RefPtr<T> value) {
    Ref ref(std::move(value));
    slot->ref = ref.leak();
  }
};
template <>
struct Codec<Ref> {
  static constexpr std::array<char, 1> letters{'r'};
  static void write(Slot* slot, Ref value) { slot->ref = value.leak(); }
};

template <size_t... Ns>
constexpr auto joinLetters(const std::array<char, Ns>&... parts) {
  std::array<char, (Ns + ... + 0)> result{};
  size_t at = 0;
  auto add = [&](const auto& part) {
    for (char letter : part)
      result[at++] = letter;
  };
  (add(parts), ...);
  return result;
}

template <class... Ts>
struct Codec<Span<Ts...>> {
  static constexpr auto letters =
      joinLetters(std::array<char, 1>{'C'}, Codec<Ts>::letters..., std::array<char, 1>{'D'});
  static Result<size_t> check(const Slot* slot, size_t index) {
    uint32_t count = static_cast<uint32_t>(slot->i32);
    const Slot* element = slot + 1;
    for (uint32_t i = 0; i < count; ++i)
      for (auto check : {&Codec<Ts>::check...})
        if (auto result = check(element++, index); !result) [[unlikely]]
          return result;
    return static_cast<size_t>(element - slot);
  }
  static Span<Ts...> read(const Slot* slot);
};

template <class T>
struct FunctionTraits;

template <class... Rs>
struct ResultList {
  static constexpr auto letters = joinLetters(Codec<Rs>::letters...);
};
template <class R>
struct ResultsOf : ResultList<R> {};
template <>
struct ResultsOf<void> : ResultList<> {};
template <class... Rs>
struct ResultsOf<std::tuple<Rs...>> : ResultList<Rs...> {};
template <class... Rs>
struct ResultsOf<Yielding<Rs...>> : ResultList<Rs...> {};

template <class R>
void storeResults(Slot* slots, R&& value) {
  Codec<std::remove_cvref_t<R>>::write(slots, std::forward<R>(value));
}
template <class... Rs>
void storeResults(Slot* slots, std::tuple<Rs...>&& values) {
  [&]<size_t... I>(std::index_sequence<I...>) {
    (Codec<Rs>::write(slots + I, std::get<I>(std::move(values))), ...);
  }(std::index_sequence_for<Rs...>());
}

template <class R, class State, class... Args>
struct Binding {
  static constexpr auto text = [] {
    constexpr auto arguments = joinLetters(Codec<Args>::letters...);
    constexpr auto results = ResultsOf<R>::letters;
    constexpr size_t argument_size = arguments.size() ? arguments.size() : 1;
    constexpr size_t result_size = results.size() ? results.size() : 1;
    std::array<char, 2 + argument_size + result_size> text{};
    size_t at = 0;
    text[at++] = '0';
    for (char letter : arguments)
      text[at++] = letter;
    if (!arguments.size())
      text[at++] = 'v';
    text[at++] = '_';
    for (char letter : results)
      text[at++] = letter;
    if (!results.size())
      text[at++] = 'v';
    return text;
  }();

  template <auto Callee, bool TakesCall>
  static Outcome enter(NativeCall& call) {
    // Where each argument begins; spans make that known only now.
    std::array<const Slot*, sizeof...(Args) + 1> at{call.arguments};
    Result<size_t> checked = 0;
    size_t index = 0;
    auto step = [&](auto check) {
      checked = check(at[index], index);
      if (!checked) [[unlikely]]
        return false;
      at[index + 1] = at[index] + *checked;
      ++index;
      return true;
    };
    if (!(step(&Codec<Args>::check) && ...)) [[unlikely]]
      return call.fail(std::move(checked).error());
    auto result = [&]<size_t... I>(std::index_sequence<I...>) {
      State& state = static_cast<State&>(*call.state);
      if constexpr (TakesCall)
        return Callee(state, call, Codec<Args>::read(at[I])...);
      else
        return Callee(state, Codec<Args>::read(at[I])...);
    }(std::index_sequence_for<Args...>());
    if (!result) [[unlikely]]
      return call.fail(std::move(result).error());
    if constexpr (requires { result->deferred(); }) {
      if (result->deferred())
        return Outcome::Deferred;
      storeResults(call.results, std::move(result->results()));
    } else if constexpr (!std::is_void_v<R>) {
      storeResults(call.results, *std::move(result));
    }
    return Outcome::Done;
  }
};

template <class R, class State, class... Args>
struct FunctionTraits<Result<R> (*)(State&, Args...)> : Binding<R, State, Args...> {
  static constexpr bool takes_call = false;
};
template <class R, class State, class... Args>
struct FunctionTraits<Result<R> (*)(State&, NativeCall&, Args...)> : Binding<R, State, Args...> {
  static constexpr bool takes_call = true;
};

} // namespace detail

// The tuples of a variadic span; checked before the function is called.
template <class... Ts>
class Span {
public:
  explicit Span(const Slot* slot) : slot_(slot) {}
  size_t size() const { return static_cast<uint32_t>(slot_->i32); }
  auto operator[](size_t i) const {
    const Slot* element = slot_ + 1 + i * sizeof...(Ts);
    auto tuple = [&]<size_t... I>(std::index_sequence<I...>) {
      return std::tuple<Ts...>(detail::Codec<Ts>::read(element + I)...);
    }(std::index_sequence_for<Ts...>());
    if constexpr (sizeof...(Ts) == 1)
      return std::get<0>(tuple);
    else
      return tuple;
  }

private:
  const Slot* slot_;
};

template <class... Ts>
Span<Ts...> detail::Codec<Span<Ts...>>::read(const Slot* slot) {
  return Span<Ts...>(slot);
}

// `Callee` as a function of a native module.
template <auto Callee>
constexpr NativeFunction bind(std::string_view name) {
  using Traits = detail::FunctionTraits<decltype(Callee)>;
  return {name, std::string_view(Traits::text.data(), Traits::text.size()),
          &Traits::template enter<Callee, Traits::takes_call>};
}

} // namespace bessemer::vm
