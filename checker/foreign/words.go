package foreign

import (
	"fmt"

	"redlocksim/internal/strictyaml"
)

// function reads what an operation does to the lock. known is false for a word that says nothing about locks.
func (r *reader) function(at int32) (m meaning, known bool, err error) {
	if at == 0 {
		return m, false, notOperation("there is no f")
	}
	t := r.wordOf(&r.s.nodes[at])
	if t == nil {
		return m, false, notOperation("f is no word")
	}
	if m, known := r.meanings[string(t)]; known {
		return m, true, nil
	}
	if len(t) > maxName {
		return m, false, nil
	}
	if m, known = r.o.meaningOf(string(t)); known {
		r.meanings[string(t)] = m
	}
	return m, known, nil
}

// unknownFunction is the error of a function that may or may not do something to the lock. What it advises loses no
// evidence: an extend or release that is left out changes what the others show.
func (r *reader) unknownFunction(at int32) error {
	t := r.wordOf(&r.s.nodes[at])
	t = t[:min(len(t), 40)]
	hint := ";"
	common := []string{"acquire", "release", "extend", "lock", "unlock", "renew"}
	// lockExtend is no misspelt lock.
	if near, ok := strictyaml.Nearest(string(t), common); ok && len(t) <= len(near)+2 {
		hint = fmt.Sprintf("; did you mean %q? Otherwise,", near)
	}
	return notOperation("unknown f %q%s if it acquires, extends or releases the lock, say which "+
		"(--map %[1]s=acquire|extend|release); "+
		"if it does nothing to the lock, leave it out (--only acquire,extend,release)", t, hint)
}
