/* Virtual base classes: where their parts lie only the object says. */
struct Top {
    int top = 1;
    int height() const;
};
int Top::height() const { return top * 10; }

__attribute__((noinline)) void stop(void) { asm volatile("" ::: "memory"); }

struct Left : virtual Top {
    int left;
    Left();
};
/* Its object may be a part of one that is being constructed. */
__attribute__((noinline)) Left::Left()
{
    stop();
    left = 2;
}

struct Right : virtual Top {
    int right = 3;
    virtual int width() const;
};
int Right::width() const { return right * 10; }

struct Bottom : Left, Right {
    long bottom = 4;
    int width() const override;
};
int Bottom::width() const { return (int)bottom * 10; }

struct Floor {
    virtual ~Floor() {}
    int floor = 5;
};

struct Room : virtual Floor, Bottom {
    int room = 6;
    int all() const;
};

__attribute__((noinline)) int look(Left *left, Right &right, Top *top, Floor *floor)
{
    stop();
    return left->left + right.width() + top->top + floor->floor;
}

__attribute__((noinline)) int high(Top &top) { return top.height(); }

int Room::all() const
{
    stop();
    return top + left + right + room;
}

/* No object is there yet. */
alignas(Room) unsigned char raw[sizeof(Room)];

int main()
{
    Room room;
    Bottom bottom;
    Left left;
    Top plain;
    Left *none = nullptr;
    Left *wild = reinterpret_cast<Left *>(raw);
    Top *chosen = &plain;
    asm volatile("" : : "r"(&room), "r"(&bottom), "r"(&left), "r"(&none), "r"(&wild), "r"(&chosen) : "memory");
    int sum = look(&room, room, &room, &room) + look(&bottom, bottom, &bottom, &room);
    sum += look(&left, room, &plain, &room);
    return sum + high(left) + room.all() > 0 ? 0 : 1;
}
