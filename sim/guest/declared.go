package guest

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
)

// The limits of what a module may declare, those of engines in browsers (the appendix on limits of the WebAssembly JavaScript
// interface) or lower ones. A compiler takes memory for what is declared before it sees that it is not there.
const (
	maxTypes      = 1_000_000
	maxFunctions  = 1_000_000
	maxImports    = 100_000
	maxExports    = 1_000_000
	maxGlobals    = 1_000_000
	maxSegments   = 100_000
	maxValues     = 1000 // parameters or results of a function
	maxLocals     = 50_000
	maxAllLocals  = 10_000_000 // of all functions together
	maxTableSizes = 1_000_000  // of all tables together, and what segments put into them
)

// The sections of a module.
const (
	customSection = iota
	typeSection
	importSection
	functionSection
	tableSection
	memorySection
	globalSection
	exportSection
	startSection
	elementSection
	codeSection
	dataSection
	dataCountSection
)

// declaration is what is known of a module before it is compiled.
type declaration struct {
	// module is it without its custom sections, names and debugging information, of which nothing is used, and with loops that
	// count their turns.
	module []byte
	// growing says that a table of it may grow without a limit.
	growing bool
	// image is what its memory begins with, if the module does not have that any more.
	image []byte
}

// declared checks what a module declares, whose loops are to have so many turns. The error says what is wrong with it.
func declared(wasm []byte, turns int) (d declaration, err error) {
	const header = 8
	if len(wasm) < header || !bytes.HasPrefix(wasm, []byte("\x00asm")) {
		return d, errors.New("it does not begin as a module does")
	}
	c := &checked{size: uint64(len(wasm)), turns: turns}
	d.module = append(d.module, wasm[:header]...)
	for r := (&reader{rest: wasm[header:]}); len(r.rest) > 0; {
		id := r.byte()
		content := r.bytes(r.number())
		body := &reader{rest: content}
		if r.err == nil && id != customSection {
			c.section(id, body)
			if body.err == nil && len(body.rest) > 0 {
				body.err = errors.New("there is more in it than it declares")
			}
		}
		if err := errors.Join(r.err, body.err); err != nil {
			return d, fmt.Errorf("section %d: %w", id, err)
		}
		if id != customSection {
			d.module = c.put(d.module, id, content)
		}
	}
	d.growing, d.image = c.growing, c.image
	return d, nil
}

// put appends a section to a module, as it is to be there.
func (c *checked) put(module []byte, id byte, content []byte) []byte {
	switch id {
	case globalSection:
		c.hasGlobals = true
		content = withMore(content, 2, c.declarations(c.turns))
	case exportSection:
		c.hasExports = true
		if !c.hasGlobals {
			module = appendSection(module, globalSection, withMore([]byte{0}, 2, c.declarations(c.turns)))
		}
		content = withMore(content, 1, c.export())
	case codeSection:
		if c.hasExports {
			content = c.code
		}
	case dataSection:
		if c.laid() {
			return module
		}
	}
	return appendSection(module, id, content)
}

// checked is what was declared so far.
type checked struct {
	counting
	turns           int
	hasGlobals      bool
	hasExports      bool
	code            []byte // the section of the code, whose loops count
	locals, entries uint64
	growing         bool
	size            uint64 // of the module
	memory          uint64 // how many bytes of its own it has at first
	counted         bool   // it counts its segments of data, for instructions that refer to them
	segments        []segment
	image           []byte
}

// laid lays the segments of data out in an image of the memory, which is copied faster than thousands of segments. It is false
// if they are to stay: where it is not known where one goes, where one does not fit, where instructions may refer to them, and
// where the image were larger than the module.
func (c *checked) laid() bool {
	end := uint64(0)
	if c.memory == 0 {
		return false
	}
	for _, s := range c.segments {
		if end = max(end, s.at+uint64(len(s.data))); !s.fixed || end > min(c.memory, c.size) || c.counted {
			return false
		}
	}
	c.image = make([]byte, end)
	for _, s := range c.segments {
		copy(c.image[s.at:], s.data)
	}
	return true
}

func (c *checked) section(id byte, r *reader) {
	switch id {
	case typeSection:
		for range r.count(maxTypes, "types") {
			if r.is(0x4e) {
				for range r.count(maxTypes, "types") {
					functionType(r)
				}
				continue
			}
			functionType(r)
		}
	case importSection:
		for range r.count(maxImports, "imports") {
			r.name()
			r.name()
			c.imported(r)
		}
	case functionSection:
		for range r.count(maxFunctions, "functions") {
			r.number()
		}
	case tableSection:
		for range r.count(maxSegments, "tables") {
			c.defined(r)
		}
	case memorySection:
		for range r.count(1, "memories") {
			least, _, _ := r.limits() // wazero compares them with the limit of pages
			c.memory = min(least, 1<<16) * page
		}
	case globalSection:
		for range r.count(maxGlobals, "globals") {
			c.global++
			r.value()
			r.byte()
			r.expression()
		}
	case exportSection:
		c.exports(r)
	case startSection:
		r.number()
	case dataCountSection:
		c.counted = true
		r.number()
	case elementSection:
		for range r.count(maxSegments, "segments") {
			c.elements(r)
		}
	case codeSection:
		c.functions(r)
	case dataSection:
		for range r.count(maxSegments, "segments") {
			c.segments = append(c.segments, r.data())
		}
	default:
		r.fail("no such section")
	}
}

func functionType(r *reader) {
	if !r.is(0x60) {
		r.fail("a type that is not a function's")
		return
	}
	for range 2 {
		for range r.count(maxValues, "parameters or results") {
			r.value()
		}
	}
}

func (c *checked) imported(r *reader) {
	switch r.byte() {
	case 0:
		r.number()
	case 1:
		c.table(r)
	case 2:
		r.limits()
	case 3:
		c.global++
		r.value()
		r.byte()
	default:
		r.fail("an import of no known kind")
	}
}

// defined checks a table of the module's own, which may have an expression that fills it.
func (c *checked) defined(r *reader) {
	filled := r.is(0x40)
	if filled {
		r.byte()
	}
	c.table(r)
	if filled {
		r.expression()
	}
}

func (c *checked) table(r *reader) {
	r.value()
	least, most, bounded := r.limits()
	c.fill(r, least)
	c.growing = c.growing || !bounded || most > maxTableSizes
}

// fill counts entries of tables.
func (c *checked) fill(r *reader, entries uint64) {
	if c.entries += min(entries, maxTableSizes+1); c.entries > maxTableSizes {
		r.fail("tables and segments of more than %d entries", maxTableSizes)
	}
}

func (c *checked) elements(r *reader) {
	flags := r.number()
	if flags > 7 {
		r.fail("a segment of no known kind")
		return
	}
	active, explicit, expressions := flags&1 == 0, flags&2 != 0, flags&4 != 0
	if active && explicit {
		r.number()
	}
	if active {
		r.expression()
	}
	switch {
	case flags == 0 || flags == 4:
	case expressions:
		r.value()
	default:
		r.byte()
	}
	n := r.count(maxTableSizes, "entries of a segment")
	c.fill(r, uint64(n))
	for range n {
		if expressions {
			r.expression()
		} else {
			r.number()
		}
	}
}

func (c *checked) exports(r *reader) {
	for range r.count(maxExports, "exports") {
		r.name()
		if kind, index := r.byte(), r.number(); kind == exportsGlobal && index >= c.global {
			r.fail("an export of a global that is not there")
		}
	}
}

func (c *checked) functions(r *reader) {
	n := r.count(maxFunctions, "functions")
	c.code = appendNumber(nil, uint64(n))
	for range n {
		c.function(&reader{rest: r.bytes(r.number())}, r)
	}
}

// function checks the body of a function, for r, and has its loops count.
func (c *checked) function(body, r *reader) {
	whole := body.rest
	locals := uint64(0)
	for range body.count(maxLocals, "kinds of locals") {
		locals += min(body.number(), maxLocals+1)
		body.value()
	}
	if c.locals += locals; locals > maxLocals || c.locals > maxAllLocals {
		body.fail("more than %d locals of a function, or %d of all", maxLocals, maxAllLocals)
	}
	written := c.counting.function(slices.Clone(whole[:len(whole)-len(body.rest)]), body)
	c.code = append(appendNumber(c.code, uint64(len(written))), written...)
	if r.err == nil {
		r.err = body.err
	}
}
