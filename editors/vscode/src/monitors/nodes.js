// The nodes of the tree: from the scope of the monitors while the program is stopped, and from
// events while it runs. No dependency on VS Code.
//
// A node has a kind, a label, a description, a verdict if it has one, and a function that returns
// its children if it may have some.
'use strict';

const { worstFirst } = require('./model');

/** The slices of one page. */
const PAGE = 100;

/** The scope of a frame that has the monitors. */
const SCOPE = 'Monitors';

/** Returns the nodes of all properties of a session. */
async function propertyNodes(state) {
    if (state.thread !== undefined) {
        const nodes = await stoppedNodes(state).catch(() => undefined);
        if (nodes !== undefined) {
            return nodes;
        }
    }
    return state.monitors.all().map(runningNode);
}

/** Returns the properties as the scope of the monitors has them; undefined without that scope. */
async function stoppedNodes(state) {
    const ask = (command, body) => state.session.customRequest(command, body);
    const stack = await ask('stackTrace', { threadId: state.thread, levels: 1 });
    const [frame] = stack.stackFrames;
    if (frame === undefined) {
        return undefined;
    }
    const { scopes } = await ask('scopes', { frameId: frame.id });
    const scope = scopes.find((it) => it.name === SCOPE);
    if (scope === undefined) {
        return undefined;
    }
    const { variables } = await ask('variables', { variablesReference: scope.variablesReference });
    const nodes = variables.map((variable) => stoppedProperty(ask, variable));
    for (const node of nodes) {
        state.monitors.note(node.label, node.verdict);
    }
    return worstFirst(nodes);
}

function stoppedProperty(ask, variable) {
    // "violated, 3 slices"
    const verdict = variable.value.split(',')[0];
    const reference = variable.variablesReference;
    const isSliced = variable.indexedVariables > 0;
    return {
        kind: 'property',
        label: variable.name,
        description: variable.value,
        verdict,
        children: isSliced
            ? () => slicePage(ask, reference, 0, variable.indexedVariables)
            : () => parts(ask, reference),
    };
}

/** Returns a page of slices, and a node for those behind it. */
async function slicePage(ask, reference, start, count) {
    const wanted = { variablesReference: reference, filter: 'indexed', start, count: PAGE };
    const { variables } = await ask('variables', wanted);
    const nodes = variables.map((variable) => ({
        kind: 'slice',
        label: variable.name,
        description: variable.value,
        // "overflow: violated"
        verdict: variable.value.split(': ').pop(),
        children: () => parts(ask, variable.variablesReference),
    }));
    const next = start + variables.length;
    if (variables.length > 0 && next < count) {
        nodes.push({
            kind: 'more',
            label: `${count - next} more`,
            description: '',
            children: () => slicePage(ask, reference, next, count),
        });
    }
    return nodes;
}

/** Returns the state, the variables and the path of a slice. */
async function parts(ask, reference) {
    const { variables } = await ask('variables', { variablesReference: reference });
    return variables.map((variable) => ({
        kind: 'value',
        label: variable.name,
        description: variable.value,
        children: variable.variablesReference > 0
            ? () => parts(ask, variable.variablesReference)
            : undefined,
    }));
}

/** Returns a property as events have told it. */
function runningNode(property) {
    const slices = worstFirst(property.slices.values());
    const isSliced = slices.some((slice) => slice.label !== '');
    let children;
    if (slices.length > 0) {
        children = isSliced ? () => slices.map(runningSlice) : () => runningParts(slices[0]);
    }
    return {
        kind: 'property',
        label: property.name,
        description: property.verdict,
        verdict: property.verdict,
        children,
    };
}

function runningSlice(slice) {
    return {
        kind: 'slice',
        label: slice.label,
        description: `${slice.state}: ${slice.verdict}`,
        verdict: slice.verdict,
        children: () => runningParts(slice),
    };
}

function runningParts(slice) {
    const values = [{ name: 'state', value: slice.state }, ...slice.variables];
    return values.map((it) => ({ kind: 'value', label: it.name, description: String(it.value) }));
}

module.exports = { PAGE, propertyNodes };
