package audit

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"redlocksim/faults"
	"redlocksim/internal/strictyaml"
	"redlocksim/redlock"
	"redlocksim/scenarios"
	"redlocksim/scenarios/variant"
	"redlocksim/search/attacks"
)

// Question is something that an audit asks about a lock, and a key of a file that has the answer.
type Question struct {
	Key string
	// Text asks for it, and Example is an answer.
	Text, Example string
	// Default is taken for granted unless it is said. If it is empty, Without says what is instead.
	Default, Without string

	// path is what a settings file says instead; empty if it does not say that.
	path string
	// read takes the answer, and gives what stands at the path, or nil; without it the answer itself does.
	read func(f *file, d *strictyaml.Decoder, n *yaml.Node) *yaml.Node
	// time is what the answer, or what a settings file says instead, comes to; nil if that is no time.
	time func(a *Answers) time.Duration
}

// Meant is what somebody means who is asked: yes is true, and no is false, where the answer is one of these.
func (q *Question) Meant(said string) string {
	if q.Example == "true" || q.Example == "false" {
		switch strings.ToLower(said) {
		case "yes", "y":
			return "true"
		case "no", "n":
			return "false"
		}
	}
	return said
}

// Questions are all of them, in the order in which they are asked. What an audit judges is another list, see lines: one answer
// bears on several assumptions, and some assumptions rest on no answer.
func Questions() []Question {
	return []Question{
		{Key: "library", Text: "Which library takes the lock: redlock, another such as redsync, single for SET NX PX on one Redis, or a lock program (a .wasm file)?", Example: "redsync", Default: "redlock", read: (*file).library},
		{Key: "nodes", Text: "How many independent Redis nodes are there, not counting replicas?", Example: "3", Default: "5", path: namesPath, read: names},
		{Key: "ttl", Text: "For how long is a lock taken (its time to live)?", Example: "8s", Without: "the library's own", path: ttlPath, time: func(a *Answers) time.Duration { return a.Settings.Lock.TTL }},
		{Key: "work", Text: "How long does the work under a lock take at most?", Example: "4s", Without: "not judged", read: work,
			time: func(a *Answers) time.Duration { return a.Work }},
		{Key: "renews", Text: "Is the lock renewed while the work goes on?", Example: "true", Without: "as the library does it", read: (*file).renews},
		{Key: "persistence", Text: "When do nodes write to disk: none, snapshots, everysec or always?", Example: "everysec", Default: "none", path: "nodes.persistence"},
		{Key: "restart-delay", Text: "How soon, at the soonest, is a node back that stopped?", Example: "5s", Default: "0s", path: "budget.restart-delay",
			time: func(a *Answers) time.Duration { return restartDelay(a.Settings) }},
		{Key: "power-loss", Text: "Can the machine of a node lose power?", Example: "false", Default: "true", path: "budget.no-power-loss", read: as(func(is bool) string { return fmt.Sprint(!is) })},
		{Key: "failover", Text: "Does a replica take over when a node is down?", Example: "true", Default: "false", read: failover},
		{Key: "clock-error", Text: "By how much can a clock be fast or slow?", Example: "0.1%", Default: "500ppm", path: "budget.clock-rate", read: as(func(is clockError) string { return is.Rate.String() })},
		{Key: "clock-step", Text: "How far can a node's wall clock be stepped?", Example: "100ms", Default: "0s", path: "budget.clock-step",
			time: func(a *Answers) time.Duration { return a.Settings.Budget.ClockStep }},
		{Key: "pause", Text: "What is the longest pause of a client, as for garbage collection?", Example: "800ms", Default: "0s", path: "budget.pause",
			time: func(a *Answers) time.Duration { return a.Settings.Budget.Pause }},
		{Key: "rtt", Text: "How long is the round trip to a node?", Example: "{p50: 1ms, p99: 8ms, max: 20ms}", Default: "{min: 1ms, max: 10ms}", path: "network.latency", read: roundTrip,
			time: func(a *Answers) time.Duration { return roundTripOf(a.Settings) }},
		{Key: "node-timeout", Text: "For how long does a client wait for a node's answer?", Example: "50ms", Without: "the library's own", path: nodeTimeoutPath,
			time: func(a *Answers) time.Duration { return a.Settings.Lock.NodeTimeout }},
		{Key: "fencing", Text: "Does the resource refuse what comes with an older fencing token?", Example: "true", Default: "false", path: "storage", read: (*file).fencing},
	}
}

// ours are the keys of a settings file, which a file of answers can have beside them.
var ours = []string{"title", "resources", "lock", "nodes", "network", "step-time", "storage", "budget"}

// Parse reads a file of answers. Errors are a strictyaml.Errors.
func Parse(path string, data []byte) (*Answers, error) {
	f := file{a: &Answers{file: path}}
	if err := strictyaml.Decode(path, data, &f); err != nil {
		return nil, err
	}
	a := f.a
	var err error
	if a.Settings, err = scenarios.ParseSettingsNode(path, f.settings); err != nil {
		return nil, err
	}
	if a.Library == "" {
		a.Library = a.lib.name
	}
	if err := f.check(); err != nil {
		return nil, err
	}
	f.assume()
	if _, voted := a.Settings.Lock.Votes(1); !voted {
		return a, a.OnOneNode()
	}
	return a, nil
}

// file is a file of answers.
type file struct {
	a        *Answers
	given    map[string]*yaml.Node // the answers by their keys
	settings *yaml.Node
}

// UnmarshalNode makes a settings file of the answers, and of what the file says as such a file does.
func (f *file) UnmarshalNode(d *strictyaml.Decoder, n *yaml.Node) {
	if n.Kind != yaml.MappingNode {
		d.Errorf(n, "", nil, "want answers, as ttl: 8s, and keys of a settings file")
		return
	}
	f.a.root = n
	f.settings = &yaml.Node{Kind: yaml.MappingNode, Line: n.Line, Column: n.Column}
	f.given = map[string]*yaml.Node{}
	var keys []string
	for _, a := range Questions() {
		keys = append(keys, a.Key)
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		switch isOurs := slices.Contains(ours, key.Value); {
		case slices.Contains(keys, key.Value) && !(isOurs && value.Kind == yaml.MappingNode):
			f.given[key.Value] = value
		case isOurs:
			f.settings.Content = append(f.settings.Content, key, value)
		default:
			d.Errorf(key, key.Value, slices.Concat(keys, ours), "unknown key")
		}
	}
	for _, a := range Questions() {
		f.answer(d, a)
	}
	if f.given["library"] != nil && f.a.lib.lock != "" {
		f.settings = strictyaml.Merge(strictyaml.Under("lock", written(f.a.lib.lock)), f.settings)
	}
}

// answer takes an answer, or what is taken for granted in its place.
func (f *file) answer(d *strictyaml.Decoder, q Question) {
	if q.Key == "library" { // which two settings can say
		q.path = f.named()
	}
	if q.Key == "rtt" && f.a.says("network.replies") { // which says a part of it
		q.path = "network.replies"
	}
	n, said := f.given[q.Key]
	setting := q.path != "" && f.a.says(q.path)
	switch {
	case said && setting:
		d.Errorf(n, q.Key, nil, "%s says the same:", q.path)
		return
	case !said && (setting || q.Default == ""):
		return
	case !said:
		if q.Key == "nodes" && f.a.lib.name == "one-redis" { // which would refuse more
			q.Default = "1"
		}
		f.a.Assumed = append(f.a.Assumed, q.Key+": "+q.Default)
		n = written(q.Default)
		n.Line, n.Column = f.settings.Line, f.settings.Column
	}
	value := n
	if q.read != nil {
		value = q.read(f, d, n)
	}
	if value != nil {
		value.Line, value.Column = n.Line, n.Column
		f.put(q.path, value)
	}
}

// put puts a value at a path of the settings where nothing is.
func (f *file) put(path string, value *yaml.Node) {
	f.settings = strictyaml.Merge(f.settings, strictyaml.Under(path, value))
}

// named takes the library that the settings name, which is ours if they name none, and gives the path at which they do.
func (f *file) named() (path string) {
	name := ourLibrary
	for _, at := range []string{"lock.protocol", "lock.preset"} {
		if n := strictyaml.At(f.settings, at); n != nil {
			path, name = at, n.Value
		}
	}
	if path == "lock.preset" {
		name = ofPreset(name)
	}
	f.a.lib, _ = libraryOf(name)
	return path
}

// onOneRedis are libraries with a lock on one Redis, by the names that people give them, in small letters. Some are nearly
// those of other locks.
var onOneRedis = []string{"redislock", "redis-lock", "redis_lock", "redis-py", "python-redis-lock", "django-redis", "shedlock", "bullmq", "laravel",
	"spring-integration", "redislockregistry", "redis-mutex", "redis-semaphore", "set-nx", "setnx"}

// library takes the name of the library.
func (f *file) library(d *strictyaml.Decoder, n *yaml.Node) *yaml.Node {
	if !d.Decode(n, &f.a.Library) {
		return nil
	}
	word := f.a.Library
	switch lib, isKnown := libraryOf(word); {
	case isKnown || IsProgram(word):
		f.a.lib = lib
	case slices.Contains(onOneRedis, strings.ToLower(word)):
		d.Errorf(n, word, nil, "the lock of this library is SET NX PX on one Redis; say single (and lock: {release: del} if it deletes the key whoever has it) in place of")
	default:
		d.Errorf(n, word, libraryNames(), "no such library; for SET NX PX on one Redis, as by redis-py, say single; a Go program can be a .wasm file:")
	}
	return nil
}

// renews takes whether the lock is renewed.
func (f *file) renews(d *strictyaml.Decoder, n *yaml.Node) *yaml.Node {
	lib := &f.a.lib
	if !d.Decode(n, &f.a.Renews) {
		return nil
	}
	switch renews := *f.a.Renews; {
	case IsProgram(f.a.Library):
	case renews && lib.extends == "":
		d.Errorf(n, "", nil, "%s cannot extend a lock: leave renews out", lib.name)
	case !renews && lib.always:
		d.Errorf(n, "", nil, "%s renews its locks, and cannot be told not to: leave renews out", lib.name)
	case f.a.says(watchdogPath):
		d.Errorf(n, "renews", nil, "%s says the same:", watchdogPath)
	case lib.renews && !lib.always:
		f.put(watchdogPath, written(fmt.Sprint(renews)))
	}
	return nil
}

// fencing is what the resource checks, and has the lock give the tokens that it looks at.
func (f *file) fencing(d *strictyaml.Decoder, n *yaml.Node) *yaml.Node {
	is := false
	switch {
	case !d.Decode(n, &is):
		return nil
	case !is:
		return written("register")
	case f.a.says("lock.fencing") || f.a.says("lock.tokens"):
	case f.a.lib.name != ourLibrary && !IsProgram(f.a.Library):
		d.Errorf(n, "", nil, "the lock gives no fencing tokens that the resource could compare: leave fencing out, or choose a library that gives them (library: redlock)")
	default:
		f.put("lock.fencing", written("true"))
	}
	return written("fenced")
}

// as reads an answer, and gives a word for it.
func as[T any](word func(T) string) func(*file, *strictyaml.Decoder, *yaml.Node) *yaml.Node {
	return func(_ *file, d *strictyaml.Decoder, n *yaml.Node) *yaml.Node {
		var is T
		if !d.Decode(n, &is) {
			return nil
		}
		return written(word(is))
	}
}

// names is the names of so many nodes.
func names(_ *file, d *strictyaml.Decoder, n *yaml.Node) *yaml.Node {
	count := 0
	if !d.Decode(n, &count) {
		return nil
	}
	if count < 1 || count > redlock.MaxNodes {
		d.Errorf(n, n.Value, nil, "want a number of nodes from 1 to %d, got", redlock.MaxNodes)
		return nil
	}
	return written("[" + strings.Join(variant.NodeNames(count), ", ") + "]")
}

func work(f *file, d *strictyaml.Decoder, n *yaml.Node) *yaml.Node {
	if d.Decode(n, &f.a.Work) && f.a.Work < 0 {
		d.Errorf(n, n.Value, nil, "must not be negative")
	}
	return nil
}

func failover(f *file, d *strictyaml.Decoder, n *yaml.Node) *yaml.Node {
	d.Decode(n, &f.a.Failover)
	return nil
}

// clockError is a rate error, written as a percentage or in parts per million: "0.05%", "500ppm".
type clockError struct{ faults.Rate }

// UnmarshalScalar reads a rate error.
func (c *clockError) UnmarshalScalar(text string) error {
	if n, ok := strings.CutSuffix(text, "ppm"); ok {
		d, ok := faults.ParseDecimal(n)
		if !ok {
			return &strictyaml.Invalid{Msg: `not a rate error, as "500ppm" or "0.05%"`, Word: text}
		}
		c.Rate = faults.RateOf(d.Shift(-6))
		return nil
	}
	return c.Rate.UnmarshalScalar(text)
}

// roundTrip is a latency of both ways together, whose min may be left out, and is 0 then.
func roundTrip(f *file, d *strictyaml.Decoder, n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.MappingNode && strictyaml.At(n, "min") == nil {
		with := *n
		with.Content = append([]*yaml.Node{strictyaml.Text("min"), strictyaml.Text("0s")}, n.Content...)
		n = &with
	}
	if !d.Decode(n, new(scenarios.Latency)) {
		return nil
	}
	f.put("network.replies", written("0s"))
	return n
}

// written is a value of our own as a node.
func written(text string) *yaml.Node {
	n, err := strictyaml.ValueOf(text)
	if err != nil {
		panic(err) // it is ours
	}
	return n
}

// check refuses locks on anything but Redis, which assume other things, and times that are longer than a schedule takes.
func (f *file) check() error {
	s := f.a.Settings
	var wrong strictyaml.Errors
	refuse := func(at *yaml.Node, path, word string, valid []string, format string, arg any) {
		e := strictyaml.Errorf(f.a.file, at.Line, at.Column, word, valid, format, arg)
		e.Path = path
		wrong.Add(e)
	}
	if service := s.Lock.Capabilities().Service; service != "" {
		at := strictyaml.At(f.a.root, "lock.protocol")
		refuse(at, "lock.protocol", at.Value, libraryNames(), "locks on a %s, and an audit is of locks on Redis:", service)
		return wrong.Err()
	}
	of := func(d time.Duration) func(*Answers) time.Duration { return func(*Answers) time.Duration { return d } }
	all := append(Questions(), Question{path: "budget.suspend", time: of(s.Budget.Suspend)}, Question{path: "budget.delay", time: of(s.Budget.Delay)},
		Question{path: guardTimePath, time: of(s.Lock.GuardTime)})
	for _, a := range all {
		if a.time != nil && a.time(f.a) > attacks.MaxLength {
			at := cmp.Or(f.given[a.Key], strictyaml.At(f.a.root, a.path))
			refuse(at, cmp.Or(a.Key, a.path), a.time(f.a).String(), nil, "is longer than %v, the most that is tried:", attacks.MaxLength)
		}
	}
	return wrong.Err()
}

// assume says what the lock itself takes for granted, and what nobody said.
func (f *file) assume() {
	a := f.a
	for _, x := range Questions() {
		if x.Default == "" && x.path != "" && f.given[x.Key] == nil && !a.says(x.path) {
			a.Assumed = append(a.Assumed, x.Key+": "+x.time(a).String())
		}
	}
	if a.lib.note != "" {
		a.Assumed = append(a.Assumed, "library: "+a.lib.note)
	}
	if a.Renews == nil && a.lib.extends != "" {
		a.Assumed = append(a.Assumed, fmt.Sprintf("renews: %t", a.lib.renews))
	}
	if f.given["work"] == nil {
		a.Assumed = append(a.Assumed, "work: not said, so that nothing tells whether the lock outlasts it")
	}
}
