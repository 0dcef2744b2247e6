// Writes, reads, deletions and an iteration over a database of its own directory.
#include "leveldb/db.h"
#include "leveldb/write_batch.h"
#include <cstdio>
#include <string>

int main(int, char **argv)
{
    leveldb::DB *database = nullptr;
    leveldb::Options options;
    options.create_if_missing = true;
    options.write_buffer_size = 64 * 1024;
    if (!leveldb::DB::Open(options, argv[1], &database).ok())
        return 2;
    for (int i = 0; i < 2000; i++) {
        leveldb::WriteBatch batch;
        batch.Put("key" + std::to_string(i % 700), std::string(100, 'a' + i % 26));
        if (i % 5 == 0)
            batch.Delete("key" + std::to_string(i % 300));
        if (!database->Write(leveldb::WriteOptions(), &batch).ok())
            return 2;
    }
    int found = 0, seen = 0;
    std::string value;
    for (int i = 0; i < 700; i++)
        found += database->Get(leveldb::ReadOptions(), "key" + std::to_string(i), &value).ok();
    leveldb::Iterator *iterator = database->NewIterator(leveldb::ReadOptions());
    for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next())
        seen++;
    delete iterator;
    delete database;
    std::printf("%d found, %d seen\n", found, seen);
    return found == seen ? 0 : 1;
}
