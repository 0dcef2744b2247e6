// The grammars: their words are those of the parser, and they cover the files of the repository.
'use strict';

const assert = require('node:assert');
const { execFileSync } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const test = require('node:test');
const { grammars, keywordsOfGrammars, keywordsOfLanguage, repository } = require('./keywords');

const modules = path.join(process.env.JUROR_VSCODE_MODULES, 'node_modules');
const textmate = require(path.join(modules, 'vscode-textmate'));
const oniguruma = require(path.join(modules, 'vscode-oniguruma'));

/** Words that a file cannot use as names: wherever they stand they are keywords. */
const RESERVED = ['and', 'or', 'not', 'true', 'false', 'null', 'if', 'else', 'when', 'on', 'sizeof'];

/** What the scope of a keyword begins with. */
const KEYWORD = /^(?:keyword|storage|constant\.language|variable\.language|support\.function\.builtin)\b/;

/** The scope that only covers what nothing else does. */
const ROOT = /^source\.juror-/;

let registry;

test.before(async () => {
    const wasm = fs.readFileSync(path.join(modules, 'vscode-oniguruma/release/onig.wasm'));
    await oniguruma.loadWASM(wasm.buffer.slice(wasm.byteOffset, wasm.byteOffset + wasm.length));
    const all = grammars();
    registry = new textmate.Registry({
        onigLib: Promise.resolve({
            createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
            createOnigString: (text) => new oniguruma.OnigString(text),
        }),
        loadGrammar: async (name) => all.get(name),
    });
});

/** Returns the tokens of a text: the line, the text, and the innermost scope. */
async function tokens(text, scopeName) {
    const grammar = await registry.loadGrammar(scopeName);
    let state = textmate.INITIAL;
    return text.split('\n').flatMap((line, number) => {
        const found = grammar.tokenizeLine(line, state);
        state = found.ruleStack;
        return found.tokens.map((token) => ({
            line: number + 1,
            text: line.slice(token.startIndex, token.endIndex),
            scope: token.scopes[token.scopes.length - 1],
        }));
    });
}

/** Returns the shipped files of properties and scenarios. */
function shipped() {
    const found = execFileSync('git', ['ls-files', '*.prop', '*.scn'], { cwd: repository });
    return found.toString().trim().split('\n');
}

function scopeOf(file) {
    return file.endsWith('.scn') ? 'source.juror-scenario' : 'source.juror-property';
}

/** Returns the words at places where the parser accepts a keyword and no name. */
function keywordsAt(line) {
    const places = [
        // The words that begin a line: an item, a clause, a transition, a statement.
        /^\s*(property|scenario|slice|event|var|state|proposition|let|function|ltl|pattern|never|matches|use)\s/g,
        /^\s*(on|set|cleared|pulse|return|print|report|stop|continue|backtrace|restore|command|watch|break)\s/g,
        /^event\s+\w+\s*=\s*([a-z]+)\s/g,
        /\b(?:set|cleared|pulse)\s+([a-z]+)\s/g,
        /^state\s+\w+\s+([a-z-]+)/g,
        /\b(returns|always|implies|eventually|until)\s/g,
        new RegExp(`(?<![\\w.])(${RESERVED.join('|')})(?!\\w)`, 'g'),
    ];
    return places.flatMap((place) => [...line.matchAll(place)].map((match) => match[1]));
}

test('the words of the grammars are those of the parser', () => {
    const [of, known] = [keywordsOfGrammars(), keywordsOfLanguage()];
    assert.deepStrictEqual([...known].filter((word) => !of.has(word)), [], 'not highlighted');
    assert.deepStrictEqual([...of].filter((word) => !known.has(word)), [], 'no words of the language');
});

test('each rule that is included is there', () => {
    const all = grammars();
    for (const [name, grammar] of all) {
        const [text] = [JSON.stringify(grammar)];
        for (const [, included] of text.matchAll(/"include":"([^"]+)"/g)) {
            const [scope, rule] = included.split('#');
            const of = all.get(scope || name);
            assert.ok(of && (rule === undefined || of.repository[rule]), `${name}: ${included}`);
        }
        for (const rule of Object.keys(grammar.repository)) {
            assert.ok(text.includes(`#${rule}"`), `${name}: nothing includes ${rule}`);
        }
    }
});

for (const file of shipped()) {
    test(`${file} has a scope for each token, and one of keywords for each keyword`, async () => {
        const text = fs.readFileSync(path.join(repository, file), 'utf8');
        const found = await tokens(text, scopeOf(file));
        const bare = found.filter((token) => ROOT.test(token.scope) && token.text.trim() !== '');
        assert.deepStrictEqual(bare, []);
        let count = 0;
        text.split('\n').forEach((line, index) => {
            const ofLine = found.filter((token) => token.line === index + 1);
            const isCode = (token) => !/^(?:comment|string)/.test(token.scope);
            // Comments and texts are blank for what looks for keywords.
            const code = ofLine.map((it) => (isCode(it) ? it.text : ' '.repeat(it.text.length))).join('');
            for (const word of keywordsAt(code)) {
                const token = ofLine.find((it) => isCode(it) && it.text.trim() === word);
                assert.ok(token && KEYWORD.test(token.scope), `${file}:${index + 1}: ${word} has ${token && token.scope}`);
                count += 1;
            }
        });
        assert.ok(count > 0, 'no keyword was looked at');
    });
}

/** Text, and the words with the beginnings of their scopes, in order. */
const LINES = [
    ['property', 'event read = before document_read(document)', [
        ['event', 'keyword.declaration'], ['read', 'entity.name.function.event'],
        ['before', 'keyword.other.event'], ['document_read', 'support.function.program'],
        ['document', 'variable.other'],
    ]],
    ['property', 'on read -> used { n += 1 } else -> exit', [
        ['on', 'keyword.control'], ['read', 'entity.name.function.event'], ['->', 'keyword.operator.arrow'],
        ['used', 'variable.other'], ['n', 'variable.other'], ['else', 'keyword.control'],
        ['exit', 'entity.name.tag.state'],
    ]],
    ['property', 'event set = write s(now: unsigned long = value)', [
        ['set', 'entity.name.function.event'], ['write', 'keyword.other.event'],
        ['unsigned long', 'storage.type'], ['value', 'variable.other'],
    ]],
    ['property', 'ltl always (not a implies eventually within 5 ms b)', [
        ['ltl', 'keyword.declaration'], ['always', 'keyword.operator.temporal'],
        ['not', 'keyword.operator.logical'], ['implies', 'keyword.operator.logical'],
        ['eventually', 'keyword.operator.temporal'], ['within', 'keyword.operator.temporal'],
        ['5', 'constant.numeric'], ['ms', 'keyword.other.unit'], ['b', 'variable.other'],
    ]],
    ['property', 'pattern absence of p after q until r', [
        ['absence', 'keyword.other.pattern'], ['of', 'keyword.other.pattern'], ['p', 'variable.other'],
        ['after', 'keyword.other.event'], ['until', 'keyword.operator.temporal'],
    ]],
    ['property', 'for each thread t, u and address a where t != u', [
        ['for', 'keyword.declaration'], ['each', 'keyword.declaration'], ['thread', 'storage.type.sort'],
        ['and', 'keyword.operator.logical'], ['address', 'storage.type.sort'], ['where', 'keyword.declaration'],
    ]],
    ['property', 'x == "a \\" # b" # c', [
        ['x', 'variable.other'], ['\\"', 'constant.character.escape'], ['# c', 'comment.line'],
    ]],
    ['scenario', 'on enter overflow of bounds when count > 3 {', [
        ['on', 'keyword.control'], ['enter', 'keyword.other.trigger'], ['overflow', 'entity.name.tag.state'],
        ['of', 'keyword.control'], ['bounds', 'entity.name.type.property'], ['when', 'keyword.control'],
    ]],
    ['scenario', 'print "cell {row + 1}"', [
        ['print', 'keyword.control.statement'], ['row', 'variable.other'], ['1', 'constant.numeric'],
    ]],
];

test('words have the scopes of what they are at their place', async () => {
    for (const [language, text, expected] of LINES) {
        const found = await tokens(text, `source.juror-${language}`);
        let from = 0;
        for (const [word, scope] of expected) {
            const at = found.findIndex((it, index) => index >= from && it.text.trim() === word);
            assert.ok(at >= 0, `${text}: no token ${word} in ${JSON.stringify(found)}`);
            assert.ok(found[at].scope.startsWith(`${scope}.`), `${text}: ${word} has ${found[at].scope}`);
            from = at + 1;
        }
    }
});
