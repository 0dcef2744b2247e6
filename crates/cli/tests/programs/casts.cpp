// A class with two bases: a pointer to the second is not one to the whole.
struct First {
    int first = 1;
    virtual ~First() {}
};
struct Second {
    int second = 2;
    virtual ~Second() {}
};
struct Whole : First, Second {
    int own = 3;
};

template <int Factor> int scaled_by(int number) {
    return number * Factor;
}

int second_of(Second *part) {
    return part->second;
}

int main() {
    Whole whole;
    Second *part = &whole;
    Whole *none = nullptr;
    int sum = second_of(part) + scaled_by<1>(3) + scaled_by<2>(3);
    return sum == 11 && none == nullptr ? 0 : 1;
}
