/* Statements that are prepared, stepped and finalized, some of them by several tables and a failure. */
#include "sqlite3.h"
#include <stdio.h>

int main(void)
{
    sqlite3 *database;
    sqlite3_stmt *insert, *select, *twice;
    if (sqlite3_open(":memory:", &database) != SQLITE_OK)
        return 2;
    sqlite3_exec(database, "create table t(id integer primary key, name text); create index i on t(name)", 0, 0, 0);
    sqlite3_prepare_v2(database, "insert into t(name) values (?)", -1, &insert, NULL);
    for (int i = 0; i < 500; i++) {
        sqlite3_bind_int(insert, 1, i * 7 % 100);
        sqlite3_step(insert);
        sqlite3_reset(insert);
    }
    sqlite3_finalize(insert);
    sqlite3_prepare_v2(database, "select count(*), name from t group by name having count(*) > 4", -1, &select, NULL);
    sqlite3_prepare_v2(database, "insert into t values (1, 'twice')", -1, &twice, NULL);
    int rows = 0;
    while (sqlite3_step(select) == SQLITE_ROW)
        rows++;
    if (sqlite3_step(twice) != SQLITE_CONSTRAINT)
        return 2;
    sqlite3_finalize(twice);
    sqlite3_finalize(select);
    sqlite3_close(database);
    printf("%d rows\n", rows);
    return 0;
}
