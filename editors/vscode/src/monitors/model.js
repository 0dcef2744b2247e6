// The monitors of a session, as its events tell them. No dependency on VS Code.
'use strict';

/** The slices of a property that are remembered while the program runs; violated ones stay. */
const SLICES_MAX = 1000;

/** The verdicts, from the worst to the best. */
const VERDICTS = ['violated', 'presumably violated', 'presumably satisfied', 'satisfied'];

/** Returns a verdict in words: events spell it as JSON does. */
function verdictOf(word) {
    return String(word).replace(/_/g, ' ');
}

/** Returns the place of a verdict among all, the worst first. */
function rank(verdict) {
    const place = VERDICTS.indexOf(verdict);
    return place < 0 ? VERDICTS.length : place;
}

/** Returns named values in words. */
function words(values) {
    return (values || []).map((it) => `${it.name} = ${it.value}`).join(', ');
}

/** Sorts what has verdicts, the worst first; others stay in their order. */
function worstFirst(all) {
    return [...all].sort((a, b) => rank(a.verdict) - rank(b.verdict));
}

/** A property: its verdict, and the slices that are known. */
class Property {
    constructor(name) {
        this.name = name;
        this.verdict = 'presumably satisfied';
        this.slices = new Map();
    }

    slice(binding) {
        const label = words(binding);
        let slice = this.slices.get(label);
        if (slice === undefined) {
            slice = { label, state: '', verdict: 'presumably satisfied', variables: [] };
            this.slices.set(label, slice);
            this.limit();
        }
        return slice;
    }

    limit() {
        if (this.slices.size <= SLICES_MAX) {
            return;
        }
        for (const [label, slice] of this.slices) {
            if (slice.verdict !== 'violated') {
                this.slices.delete(label);
                return;
            }
        }
    }

    /** Decides the verdict by the known slices. */
    judge() {
        const [worst] = worstFirst(this.slices.values());
        if (worst !== undefined) {
            this.verdict = worst.verdict;
        }
    }
}

/** All monitors of a session. */
class Monitors {
    constructor() {
        this.properties = new Map();
    }

    property(name) {
        let property = this.properties.get(name);
        if (property === undefined) {
            property = new Property(name);
            this.properties.set(name, property);
        }
        return property;
    }

    /** Takes the event `juror/monitor`: a slice has changed its state. */
    changed(body) {
        const property = this.property(body.property);
        const slice = property.slice(body.slice);
        slice.state = body.to;
        slice.verdict = verdictOf(body.verdict);
        property.judge();
    }

    /** Takes the event `juror/verdict`: a violation, or the verdict at the end of the run. */
    decided(body) {
        const property = this.property(body.property);
        const violation = body.violation;
        if (violation) {
            const slice = property.slice(violation.slice);
            slice.state = violation.state;
            slice.verdict = verdictOf(body.verdict);
            slice.variables = violation.variables || [];
        }
        property.verdict = verdictOf(body.verdict);
    }

    /** Takes what the scope of the monitors shows of a property. */
    note(name, verdict) {
        this.property(name).verdict = verdict;
    }

    /** Returns the properties, the violated first. */
    all() {
        return worstFirst(this.properties.values());
    }
}

module.exports = { Monitors, SLICES_MAX, worstFirst };
