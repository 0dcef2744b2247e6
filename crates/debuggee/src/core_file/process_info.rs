//! What a core file says of the process, from `/proc`.

use juror_corefile::ProcessInfo;

use crate::debuggee::Debuggee;
use crate::kernel::process_status;

impl Debuggee {
    pub(super) fn process_info(&self) -> ProcessInfo {
        let read = |name| std::fs::read(self.file_of(name)).unwrap_or_default();
        let mut name = read("comm");
        name.truncate(name.trim_ascii_end().len());
        let mut arguments = read("cmdline");
        while arguments.last() == Some(&0) {
            arguments.pop();
        }
        for byte in &mut arguments {
            if *byte == 0 {
                *byte = b' ';
            }
        }
        let stat = String::from_utf8_lossy(&read("stat")).into_owned();
        // After the state: parent, group, session.
        let fields = stat.rsplit_once(") ").map_or("", |(_, fields)| fields);
        let mut fields = fields.split(' ').skip(1);
        let mut number = || fields.next().and_then(|it| it.parse().ok()).unwrap_or(0);
        let (parent, group, session) = (number(), number(), number());
        let users = process_status::users(self.process, self.process);
        let first = |at: usize| {
            let text = users.as_ref().and_then(|users| users.get(at));
            let word = text.and_then(|text| text.split_whitespace().next());
            word.and_then(|word| word.parse().ok()).unwrap_or(0)
        };
        ProcessInfo {
            id: self.process,
            parent,
            group,
            session,
            user: first(0),
            user_group: first(1),
            name,
            arguments,
        }
    }
}
