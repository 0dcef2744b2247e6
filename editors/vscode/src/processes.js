// The processes that juror may be attached to.
'use strict';

const fs = require('fs');

/** Returns the user's processes, the newest first. */
function processes(directory = '/proc') {
    const user = process.getuid();
    const found = [];
    for (const name of fs.readdirSync(directory)) {
        if (/^[0-9]+$/.test(name)) {
            try {
                const { uid } = fs.statSync(`${directory}/${name}`);
                const words = fs.readFileSync(`${directory}/${name}/cmdline`, 'utf8').split('\0');
                // The kernel's own threads have no command line.
                if ((uid === user || user === 0) && words[0] !== '') {
                    const label = words[0].split('/').pop();
                    found.push({ label, description: name, detail: words.join(' ').trim() });
                }
            } catch {
                // It has ended.
            }
        }
    }
    return found.sort((a, b) => Number(b.description) - Number(a.description));
}

module.exports = { processes };
