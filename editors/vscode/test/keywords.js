// The keywords of the language, from the source text of its parser, and those of the grammars.
'use strict';

const fs = require('fs');
const path = require('path');

const repository = path.resolve(__dirname, '../../..');
const language = path.join(repository, 'crates/language/src');

/** A word of the language. */
const WORD = /^(?:non-accepting|[A-Za-z_][A-Za-z0-9_]*)$/;

/** Words that the parser knows only to tell what is wrong with them. */
const ONLY_REPORTED = ['as'];

/** Returns a source file without its tests. */
function sourceOf(file) {
    return fs.readFileSync(path.join(language, file), 'utf8').split(/#\[cfg\(test\)\]\s*mod \w+ \{/)[0];
}

/** Returns the words in the literals of a text; a literal may have several. */
function literals(text) {
    const found = [...text.matchAll(/"([^"\n]*)"/g)].flatMap(([, inner]) => inner.split(' '));
    return found.filter((word) => WORD.test(word));
}

/** Returns the literals of what a pattern finds in a file, which must be something. */
function found(file, pattern) {
    const words = [...sourceOf(file).matchAll(pattern)].flatMap((match) => literals(match[0]));
    if (words.length === 0) {
        throw new Error(`${file} has nothing like ${pattern}: the test must be adapted`);
    }
    return words;
}

/** Returns the words of a list of words in a file: `const NAME: … = …;`. */
function listed(file, name) {
    return found(file, new RegExp(`const ${name}:[^=]*=[^;]*;`, 'g'));
}

/** Returns the words of the arms of a `match`: `"a" | "b" =>`, `("a", …) =>`. */
function arms(file) {
    return found(file, /\(?"[A-Za-z_-]+"(?:\s*\|\s*"[A-Za-z_-]+")*(?: if [^\n]*?)?(?:, "[a-z]+")?\)? =>/g);
}

/** Returns all words that the parser distinguishes from names. */
function keywordsOfLanguage() {
    const files = fs.readdirSync(path.join(language, 'parse'));
    const sources = files.filter((file) => file.endsWith('.rs') && file !== 'tests.rs');
    const asked = sources.flatMap((file) => {
        const calls = /(?:is_word|take_word)\("[^"]*"\)|text_ahead\(\d\) == "[^"]*"/g;
        return [...sourceOf(`parse/${file}`).matchAll(calls)].flatMap(([call]) => literals(call));
    });
    const words = new Set([
        ...asked,
        ...listed('parse/mod.rs', 'RESERVED'),
        ...listed('parse/property.rs', 'ITEMS'),
        ...listed('parse/event.rs', 'EVENT_WORDS'),
        ...listed('parse/event.rs', 'CLAUSE_WORDS'),
        ...found('parse/event.rs', /\("\w+", EventKind::\w+\)/g),
        ...listed('parse/state.rs', 'WORDS'),
        ...listed('parse/formula.rs', 'PREFIX_WORDS'),
        ...listed('parse/formula.rs', 'INFIX_WORDS'),
        ...arms('parse/formula.rs'),
        ...listed('syntax/logic.rs', 'ALL'),
        ...arms('parse/pattern.rs'),
        ...arms('parse/bound.rs'),
        ...arms('parse/block.rs'),
        ...arms('parse/primary.rs'),
        ...listed('parse/primary.rs', 'TYPE_WORDS'),
        ...listed('parse/types.rs', 'TYPES'),
        ...listed('parse/types.rs', 'ALIASES'),
        ...listed('parse/scenario.rs', 'TRIGGERS'),
        ...listed('parse/reaction.rs', 'STATEMENTS'),
        ...found('syntax/scenario.rs', /PointWord::\w+ => "\w+"/g),
        ...found('term.rs', /^ {4}\w+ "\w+" \d/gm),
        ...found('../../event/src/verdict.rs', /Verdict::\w+ => "[a-z ]+"/g),
    ]);
    ONLY_REPORTED.forEach((word) => words.delete(word));
    return words;
}

/** Returns the grammars by the names of their scopes. */
function grammars() {
    const directory = path.join(__dirname, '../syntaxes');
    const files = fs.readdirSync(directory).map((file) => path.join(directory, file));
    const read = files.map((file) => JSON.parse(fs.readFileSync(file, 'utf8')));
    return new Map(read.map((grammar) => [grammar.scopeName, grammar]));
}

/** Returns the words that the patterns of the grammars name. */
function keywordsOfGrammars() {
    const words = new Set();
    for (const grammar of grammars().values()) {
        for (const { patterns } of Object.values(grammar.repository)) {
            for (const pattern of patterns.filter((it) => it.match)) {
                namedWords(pattern.match).forEach((word) => words.add(word));
            }
        }
    }
    return words;
}

/** Returns the words that a regular expression names outside of what it only looks at. */
function namedWords(expression) {
    const plain = withoutLooks(expression)
        // One-letter operators.
        .replace(/\\b\[([A-Z]+)\]\\b/g, (_, letters) => ` ${[...letters].join(' ')} `)
        .replace(/\[(?:[^\]\\]|\\.)*\]/g, '#')
        .replace(/(\w+)s\?/g, '$1 $1s')
        .replace(/\\[a-z]/gi, ' ');
    return plain.match(/non-accepting|(?<![#\w])[A-Za-z_][A-Za-z0-9_]*(?![#\w])/g) || [];
}

/** Returns a regular expression without what it looks at ahead and behind. */
function withoutLooks(expression) {
    let kept = '';
    let depth = 0;
    for (let at = 0; at < expression.length; at += 1) {
        const rest = expression.slice(at);
        const [atom] = rest.match(/^(?:\\.|\[(?:[^\]\\]|\\.)*\]|[^])/);
        if (depth > 0) {
            depth += atom === '(' ? 1 : atom === ')' ? -1 : 0;
        } else if (/^\(\?<?[=!]/.test(rest)) {
            depth = 1;
        } else {
            kept += atom;
        }
        at += atom.length - 1;
    }
    return kept;
}

module.exports = { grammars, keywordsOfGrammars, keywordsOfLanguage, repository };
