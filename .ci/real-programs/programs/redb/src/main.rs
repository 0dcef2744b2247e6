//! Transactions that are committed and aborted, each counted by the program.

use redb::{Database, ReadableDatabase, TableDefinition};

const TABLE: TableDefinition<u64, u64> = TableDefinition::new("t");

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let database = Database::create(std::env::args().nth(1).ok_or("no file")?)?;
    let (mut begun, mut committed, mut aborted) = (0, 0, 0);
    for round in 0..40 {
        let transaction = database.begin_write()?;
        begun += 1;
        {
            let mut table = transaction.open_table(TABLE)?;
            for key in 0..20 {
                table.insert(key, round)?;
            }
        }
        if round % 8 == 7 {
            transaction.abort()?;
            aborted += 1;
        } else {
            transaction.commit()?;
            committed += 1;
        }
    }
    let read = database.begin_read()?;
    let table = read.open_table(TABLE)?;
    assert_eq!(table.get(3)?.map(|value| value.value()), Some(38));
    if let Ok(path) = std::env::var("OWN_COUNTS") {
        std::fs::write(path, format!("{begun}\n{committed}\n{aborted}\n"))?;
    }
    Ok(())
}
