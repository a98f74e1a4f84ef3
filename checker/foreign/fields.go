package foreign

import (
	"strconv"
	"strings"
	"time"
)

// field is a field of an operation that means something here.
type field uint8

const (
	processField field = iota
	typeField
	functionField
	valueField
	timeField
	indexField
	// argsField and countField count only where there are semaphores.
	argsField
	lockField
	tokenField
	modeField
	permitsField
	countField
	// leaseField has the length of a lease. That of a field which is only called lease may be its name.
	leaseField
	leaseNameField
	fieldCount
	// commentField says why something failed; noField is unknown.
	commentField
	noField
)

// role is what a field is for. The unit is that of a length of time, if its name tells: lease_ms.
type role struct {
	field field
	unit  time.Duration
}

// fieldNames are the names of fields in the form that plain gives them.
var fieldNames = map[string]field{
	"process": processField, "type": typeField, "f": functionField, "value": valueField,
	"time": timeField, "index": indexField,
	"key": lockField, "lock": lockField, "name": lockField, "resource": lockField,
	"lockname": lockField, "lockkey": lockField,
	"token": tokenField, "fence": tokenField, "fencingtoken": tokenField,
	"mode": modeField, "lockmode": modeField, "permits": permitsField,
	"acquiredpermits": permitsField, "numpermits": permitsField,
	"count": countField, "n": countField, "weight": countField, "amount": countField, "tokens": countField,
	"args": argsField,
	"ttl":  leaseField, "leasetime": leaseField, "leaseduration": leaseField, "leasettl": leaseField,
	"lockttl":      leaseField,
	"lockduration": leaseField, "leaselength": leaseField,
	"lease": leaseNameField,
	"error": commentField, "exception": commentField,
}

// units are the names of units of time, short and long, in the form that plain gives them.
var units = map[string]time.Duration{
	"ns": time.Nanosecond, "nanos": time.Nanosecond, "nanoseconds": time.Nanosecond, "nanosecond": time.Nanosecond,
	"us": time.Microsecond, "micros": time.Microsecond,
	"microseconds": time.Microsecond, "microsecond": time.Microsecond,
	"ms": time.Millisecond, "millis": time.Millisecond,
	"milliseconds": time.Millisecond, "millisecond": time.Millisecond,
	"s": time.Second, "sec": time.Second, "secs": time.Second, "seconds": time.Second, "second": time.Second,
	"m": time.Minute, "min": time.Minute, "mins": time.Minute, "minutes": time.Minute, "minute": time.Minute,
	"h": time.Hour, "hour": time.Hour, "hours": time.Hour,
}

// roleOf is what a field of this name is for. Those that every history has, and that may mean something else, as Name,
// are written in one way only. A length of time may have its unit behind it: ttl_ms, leaseDurationSeconds.
func roleOf(name string) role {
	short := plain(name)
	f, known := fieldNames[short]
	if known && (f > lockField || name == short || strings.HasPrefix(short, "lock")) {
		return role{field: f}
	}
	at := strings.LastIndexAny(name, "-_ ") + 1
	if at == 0 {
		at = strings.LastIndexFunc(name, func(c rune) bool { return 'A' <= c && c <= 'Z' })
	}
	if at > 0 {
		unit, isUnit := units[plain(name[at:])]
		if f, known := fieldNames[plain(name[:at])]; isUnit && (known && f == leaseField || f == leaseNameField) {
			return role{leaseField, unit}
		}
	}
	return role{field: noField}
}

// maxRoles bounds the names of fields that are remembered.
const maxRoles = 1000

// role is what a key is for.
func (r *reader) role(key *node) role {
	name := r.field(key)
	known, met := r.roles[string(name)]
	if !met {
		known = roleOf(string(name))
		if (known.field == argsField || known.field == countField) && len(r.o.Semaphores) == 0 {
			known = role{field: noField}
		}
		if len(name) <= maxName && len(r.roles) < maxRoles {
			r.roles[string(name)] = known
		}
	}
	return known
}

// fields are the places of an operation's values among the nodes; 0 for a field that is not there, or nil. unit is that
// of the length of the lease, if the field's name tells. unknown says that there are fields that are not understood.
type fields struct {
	at      [fieldCount]int32
	unit    time.Duration
	unknown bool
	data    int32 // a number that is the value itself
}

// enter notes the place of a value, if there is none yet, and reports whether there was.
func (f *fields) enter(as role, at int32) (twice bool) {
	if f.at[as.field] != 0 {
		return true
	}
	f.at[as.field] = at
	if as.field == leaseField {
		f.unit = as.unit
	}
	return false
}

// fields finds the fields of the operation that the scanner holds.
func (r *reader) fields() (found fields, err error) {
	err = r.fieldsOf(0, &found, func(field) bool { return true })
	return found, err
}

// fieldsOfValue adds those of a value that is a map. What the operation says itself counts first.
func (r *reader) fieldsOfValue(value int32, found *fields) error {
	inside := fields{}
	err := r.fieldsOf(value, &inside, ofValue)
	for f, at := range inside.at {
		if at != 0 {
			found.enter(role{field(f), inside.unit}, at)
		}
	}
	found.unknown = found.unknown || inside.unknown
	return err
}

// ofValue reports whether a field counts in a value, too.
func ofValue(f field) bool {
	return f >= lockField
}

func (r *reader) fieldsOf(record int32, found *fields, counts func(field) bool) error {
	nodes := r.s.nodes
	for at := record + 1; at < nodes[record].end; at = nodes[nodes[at].end].end {
		as, val := r.role(&nodes[at]), nodes[at].end
		switch {
		case as.field == commentField:
		case as.field == noField || !counts(as.field):
			found.unknown = true
		case nodes[val].kind != nothing && found.enter(as, val):
			return notOperation("%q is there twice", r.field(&nodes[at]))
		}
	}
	return nil
}

// noticeFields remembers the fields that are not understood.
func (r *reader) noticeFields(found *fields, line int) {
	r.noticeFieldsOf(0, "", func(field) bool { return true }, line)
	if value := found.at[valueField]; value != 0 && r.s.nodes[value].kind == record {
		r.noticeFieldsOf(value, "value.", ofValue, line)
	}
}

func (r *reader) noticeFieldsOf(record int32, prefix string, counts func(field) bool, line int) {
	nodes := r.s.nodes
	for at := record + 1; at < nodes[record].end; at = nodes[nodes[at].end].end {
		if as := r.role(&nodes[at]); as.field == noField || as.field < fieldCount && !counts(as.field) {
			r.notice(notUnderstood, prefix, r.field(&nodes[at]), line)
		}
	}
}

// name is a node that names something: a text, keyword, word or whole number. A number is named by its digits.
func (r *reader) name(n *node, what string) ([]byte, error) {
	var name []byte
	switch n.kind {
	case text, keyword, word:
		name = r.s.textOf(n)
	case number:
		i, err := r.s.int(n)
		if err != nil {
			return nil, notOperation("%s: %v", what, err)
		}
		name = strconv.AppendInt(nil, i, 10)
	default:
		return nil, notOperation("%s is neither a name nor a number", what)
	}
	if len(name) == 0 || len(name) > maxName {
		return nil, notOperation("%s has a name of %d bytes, must be from 1 to %d", what, len(name), maxName)
	}
	return name, nil
}

// field is the name of a key, without the colon that some converters to JSON leave on it; empty if it is no name.
func (r *reader) field(n *node) []byte {
	if n.kind != text && n.kind != keyword {
		return nil
	}
	t := r.s.textOf(n)
	if n.kind == text && len(t) > 1 && t[0] == ':' {
		t = t[1:]
	}
	return t
}

// wordOf is the text of a word, however it is written; nil if the node is none.
func (r *reader) wordOf(n *node) []byte {
	if n.kind == word {
		return r.s.textOf(n)
	}
	return r.field(n)
}
