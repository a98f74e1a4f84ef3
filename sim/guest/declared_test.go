package guest

import (
	"bytes"
	"encoding/binary"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// number is as modules write it.
func number(n uint64) []byte { return binary.AppendUvarint(nil, n) }

// section is one with these parts.
func section(id byte, parts ...[]byte) []byte {
	body := slices.Concat(parts...)
	return slices.Concat([]byte{id}, number(uint64(len(body))), body)
}

const many = 4_000_000_000

// hostile are modules of a few bytes that declare gigabytes.
func hostile() map[string][][]byte {
	noArguments := section(typeSection, []byte{1, 0x60, 0, 0})
	oneFunction := section(functionSection, []byte{1, 0})
	body := func(parts ...[]byte) []byte {
		b := slices.Concat(parts...)
		return slices.Concat(number(uint64(len(b))), b)
	}
	huge := number(many)
	return map[string][][]byte{
		"locals":          {noArguments, oneFunction, section(codeSection, []byte{1}, body([]byte{1}, huge, []byte{0x7e, 0x0b}))},
		"locals that add": {noArguments, oneFunction, section(codeSection, []byte{1}, body([]byte{2}, number(1<<63), []byte{0x7e}, number(1<<63), []byte{0x7e, 0x0b}))},
		"locals of many": {noArguments, section(functionSection, number(300), make([]byte, 300)),
			section(codeSection, number(300), bytes.Repeat(body([]byte{1}, number(maxLocals), []byte{0x7e, 0x0b}), 300))},
		"types":             {section(typeSection, huge)},
		"parameters":        {section(typeSection, []byte{1, 0x60}, huge)},
		"results":           {section(typeSection, []byte{1, 0x60, 0}, huge)},
		"imports":           {section(importSection, huge)},
		"a name":            {section(importSection, []byte{1}, huge)},
		"functions":         {noArguments, section(functionSection, huge)},
		"a table":           {section(tableSection, []byte{1, 0x70, 0}, number(1<<27))},
		"tables":            {section(tableSection, huge)},
		"small tables":      {section(tableSection, number(100), bytes.Repeat(slices.Concat([]byte{0x70, 0}, number(100_000)), 100))},
		"a memory":          {section(memorySection, []byte{1, 0}, number(65536))},
		"globals":           {section(globalSection, huge)},
		"exports":           {section(exportSection, huge)},
		"segments":          {section(elementSection, huge)},
		"a segment":         {section(elementSection, []byte{1, 0, 0x41, 0, 0x0b}, huge)},
		"expressions":       {section(elementSection, []byte{1, 4, 0x41, 0, 0x0b}, huge)},
		"bodies":            {noArguments, oneFunction, section(codeSection, huge)},
		"a body":            {noArguments, oneFunction, section(codeSection, []byte{1}, huge, []byte{0})},
		"data":              {section(dataSection, huge)},
		"a segment of data": {section(memorySection, []byte{1, 0, 1}), section(dataSection, []byte{1, 0, 0x41, 0, 0x0b}, huge)},
		"a section":         {slices.Concat([]byte{typeSection}, huge, []byte{0})},
		"no section":        {section(13, huge)},
	}
}

// A module that declares more than it has, or more than any program needs, is refused before anything is made of it.
func TestHostileModules(t *testing.T) {
	for name, sections := range hostile() {
		module := append([]byte("\x00asm\x01\x00\x00\x00"), slices.Concat(sections...)...)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		p, err := Load(module, "", Limits{})
		runtime.ReadMemStats(&after)
		if err == nil {
			_ = p.Close()
		}
		if err == nil || !strings.HasPrefix(err.Error(), "not a WebAssembly program that can run here: ") {
			t.Errorf("%s: %v", name, err)
		}
		if grown := after.TotalAlloc - before.TotalAlloc; grown > 16<<20 {
			t.Errorf("%s: %d bytes for a module of %d", name, grown, len(module))
		}
	}
}

// What names and debugging sections declare is not looked at, and a program with tables that can grow has no instruction for
// it.
func TestWhatAModuleDeclares(t *testing.T) {
	names := section(customSection, []byte{4}, []byte("name"), []byte{1, 5}, number(many))
	table := section(tableSection, []byte{1, 0x70, 0, 1})
	bounded := section(tableSection, []byte{1, 0x70, 1, 1, 2})
	header := []byte("\x00asm\x01\x00\x00\x00")
	for _, c := range []struct {
		sections, want []byte
		growing        bool
	}{
		{slices.Concat(names, table, names), table, true},
		{slices.Concat(bounded, names), bounded, false},
	} {
		got, err := declared(slices.Concat(header, c.sections), 1)
		if err != nil || got.growing != c.growing || !bytes.Equal(got.module, slices.Concat(header, c.want)) {
			t.Errorf("%v, %v", got, err)
		}
	}
	// _start is (drop (table.grow 0 (ref.null func) (i32.const 1))).
	grow := slices.Concat(header, section(typeSection, []byte{1, 0x60, 0, 0}), section(functionSection, []byte{1, 0}), table,
		section(exportSection, []byte{1, 6}, []byte("_start"), []byte{0, 0}),
		section(codeSection, []byte{1, 10, 0, 0xd0, 0x70, 0x41, 1, 0xfc, 15, 0, 0x1a, 0x0b}))
	if _, err := Load(grow, "", Limits{}); err == nil || !strings.Contains(err.Error(), "reference-types") {
		t.Errorf("it can grow: %v", err)
	}
}
