package foreign

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"redlocksim/checker"
)

// script writes a history of one lock as EDN, an event a line: "0 acquire" is an invoke by process 0, "0 ok", "0 fail"
// and "0 info" what became of it, "0 ok 7" with a token; "@5" before it sets the time.
func script(t *testing.T, events string) string {
	t.Helper()
	var b strings.Builder
	open := map[string]string{}
	now := "0"
	for event := range strings.SplitSeq(events, ";") {
		words := strings.Fields(event)
		if len(words) > 0 && words[0][0] == '@' {
			now, words = words[0][1:], words[1:]
		}
		if len(words) < 2 {
			t.Fatalf("%q is no event", event)
		}
		process, typ, value := words[0], words[1], "nil"
		switch typ {
		case "ok", "fail", "info":
		default:
			open[process], typ = typ, "invoke"
		}
		if len(words) == 3 {
			value = words[2]
		}
		fmt.Fprintf(&b, "{:process %s, :type :%s, :f :%s, :value %s, :time %s}\n", process, typ, open[process], value, now)
	}
	return b.String()
}

// check judges one file, which has no name.
func check(in io.Reader, o Options) (*Report, error) { return Check(o, Source{In: in}) }

// returned is the line of an operation's outcome; 0 if there is none.
func returned(o Operation) int {
	if o.Return == nil {
		return 0
	}
	return *o.Return
}

// shown gives findings as "kind xcount call-return,call-return".
func shown(r *Report) string {
	var all []string
	for _, f := range r.Findings {
		var lines []string
		for _, o := range f.Operations {
			lines = append(lines, fmt.Sprintf("%d-%d", o.Call, returned(o)))
		}
		all = append(all, fmt.Sprintf("%s x%d %s", f.Kind, f.Count, strings.Join(lines, ",")))
	}
	return strings.Join(all, "; ")
}

// What is found first, and where. What is good, the table and the definition say.
func TestFindings(t *testing.T) {
	const (
		overlap = "0 acquire; 0 ok; 1 acquire; 1 ok"
		stolen  = "0 acquire; 0 ok; 1 release; 1 ok; 1 acquire; 1 ok"
		again   = "0 acquire; 0 ok; 0 acquire; 0 ok; 0 release; 0 ok"
	)
	for _, c := range []struct {
		model        Model
		script, want string
	}{
		{Mutex, overlap, "lease-overlap x1 1-2,3-4"}, {Owner, overlap, "lease-overlap x1 1-2,3-4"}, {Reentrant, overlap, "lease-overlap x1 1-2,3-4"},
		{Owner, stolen, "lease-overlap x1 1-2,5-6; not-held x1 3-4"},
		{Mutex, again, "lease-overlap x1 1-2,3-4"}, {Owner, again, "lease-overlap x1 1-2,3-4"},
		{Reentrant, again + "; 1 acquire; 1 ok", "lease-overlap x1 1-2,7-8"},
		{Reentrant, again + "; 0 release; 0 ok; 0 release; 0 ok", "not-held x1 7-8,9-10"},

		// Operations that overlap in time take the order that suits them.
		{Mutex, "0 acquire; 0 ok; 1 acquire; 1 ok; 0 release; 0 ok", "lease-overlap x1 1-2,3-4"},
		{Mutex, "0 acquire; 1 extend; 0 ok; 1 ok; 0 release; 0 ok; 0 extend; 0 ok", "not-held x1 5-6,7-8"},
		{Mutex, "0 release; 0 ok", "not-held x1 1-2"},

		// What failed did not happen, and a failed acquire of a free lock is allowed.
		{Owner, "0 acquire; 0 ok; 0 release; 0 fail; 1 acquire; 1 ok", "lease-overlap x1 1-2,5-6"},
		{Mutex, "0 acquire; 0 ok; 0 release; 0 fail; 1 acquire; 1 ok", "lease-overlap x1 1-2,5-6"},
		{Mutex, "0 acquire; 0 ok; 0 release; 1 acquire; 1 ok; 0 fail", "lease-overlap x1 1-2,4-5"},

		// What is unknown, or open at the end, may have happened.
		{Mutex, "0 acquire; 0 ok; 0 release; 0 info; 1 acquire; 1 ok; 2 acquire; 2 ok", "lease-overlap x1 5-6,7-8"},
		{Owner, "0 acquire; 0 ok; 0 extend; 0 info; 1 acquire; 1 ok", "lease-overlap x1 1-2,5-6"},

		// A later success shows that it did.
		{Owner, "0 acquire; 0 info; 1 acquire; 1 ok; 0 release; 0 ok", "lease-overlap x1 3-4,5-6"},
		{Owner, "0 acquire; 0 info; 0 extend; 0 ok; 1 acquire; 1 ok", "lease-overlap x1 3-4,5-6"},
		{Owner, "0 acquire; 0 info; 0 release; 0 ok; 0 release; 0 ok", "not-held x1 3-4,5-6"},
		{Owner, "0 acquire; 0 ok; 0 release; 0 info; 1 acquire; 1 ok; 1 release; 1 ok; 0 release; 0 ok", "lease-overlap x1 1-2,5-6"},
		{Reentrant, "0 acquire; 0 ok; 0 acquire; 0 info; 0 release; 0 ok; 1 acquire; 1 ok; 0 release; 0 ok", "lease-overlap x1 1-2,7-8"},
		{Reentrant, "0 acquire; 0 ok; 0 acquire; 0 ok; 0 release; 0 info; 1 acquire; 1 ok; 1 release; 1 ok; 0 release; 0 info",
			"lease-overlap x1 1-2,7-8"},
		{Reentrant, "0 acquire; 0 ok; 0 acquire; 0 ok; 0 release; 0 info; 0 release; 0 info; 1 acquire; 1 ok; 1 release; 1 ok; " +
			"0 release; 0 ok; 0 release; 0 ok", "lease-overlap x1 1-2,9-10"},

		{Owner, "0 extend; 0 ok", "not-held x1 1-2"},
		{Owner, "0 acquire; 0 ok; 1 acquire; 1 ok; 1 release; 1 ok; 2 acquire; 2 ok", "lease-overlap x2 1-2,3-4"},

		{Fenced, "0 acquire; 0 ok 5; 0 release; 0 ok; 1 acquire; 1 ok 5", "token-repeated x1 1-2,5-6"},
		{Fenced, "0 acquire; 0 ok 5; 0 release; 0 ok; 1 acquire; 1 ok 4", "token-regressed x1 1-2,5-6"},
		{Fenced, "0 acquire; 0 ok 5; 0 release; 0 ok; 1 acquire; 1 ok -4; 1 release; 1 ok; 2 acquire; 2 ok -4; 2 release; 2 ok; 0 acquire; 0 ok 3",
			"token-regressed x2 1-2,5-6; token-repeated x1 5-6,9-10"},
		{Fenced, "0 acquire; 0 ok 1; 1 acquire; 1 ok 2", "lease-overlap x1 1-2,3-4"},

		// A lease of 10 ns counts from the call; touching is allowed.
		{Lease, "@0 0 acquire; @5 0 ok; @9 1 acquire; @9 1 ok", "lease-overlap x1 1-2,3-4"},
		{Lease, "@0 0 acquire; @5 0 ok; @7 0 release; @8 1 acquire; @8 1 ok; @9 0 fail", "lease-overlap x1 1-2,4-5"},
		{Lease, "@0 0 acquire; @5 0 ok; @7 0 extend; @8 0 ok; @16 1 acquire; @16 1 ok", "lease-overlap x1 1-2,5-6"},
		{Lease, "@0 0 acquire; @5 0 ok; @7 0 extend; @12 0 ok; @12 1 acquire; @13 1 ok", "lease-overlap x1 1-2,5-6"},

		// Who succeeds after the end of its lease had the lock until then, unless it may have got it anew.
		{Lease, "@1 0 acquire; @2 0 ok; @20 1 acquire; @21 1 ok; @22 0 release; @23 0 ok; @24 1 release; @25 1 ok", "lease-overlap x1 1-2,3-4"},
		{Lease, "@1 0 acquire; @2 0 ok; @20 1 acquire; @21 1 ok; @22 1 release; @23 1 ok; @35 0 extend; @36 0 ok", "lease-overlap x1 1-2,3-4"},
		{Lease, "@1 0 acquire; @2 0 ok; @3 0 release; @4 0 fail; @5 1 acquire; @6 1 ok", "lease-overlap x1 1-2,5-6"},
		{Lease, "@1 0 acquire; @2 0 ok; @20 1 acquire; @21 1 ok; @22 1 release; @23 1 ok; @30 0 acquire; @31 0 fail; @35 0 extend; @36 0 ok",
			"lease-overlap x1 1-2,3-4"},
		// The extend shows that the release of unknown outcome did not happen.
		{Lease, "@0 0 acquire; @1 0 ok; @2 0 release; @3 0 info; @4 1 acquire; @5 1 ok; @6 1 release; @6 1 ok; @7 0 extend; @8 0 ok",
			"lease-overlap x1 1-2,5-6"},
		// A grant that was over when it was reported needed the lock for an instant all the same.
		{Lease, "@0 1 acquire; @1 1 ok; @2 0 acquire; @6 1 extend; @6 1 ok; @13 0 ok", "lease-overlap x1 1-2,3-6"},
		{Lease, "@0 0 acquire; @1 0 ok; @4 0 acquire; @5 0 ok", "lease-overlap x1 1-2,3-4"},

		{ReentrantFenced, "0 acquire; 0 ok 5; 0 acquire; 0 ok 6", "token-changed x1 1-2,3-4"},
		{ReentrantFenced, "0 acquire; 0 ok -1; 0 acquire; 0 ok 5; 0 acquire; 0 ok 6", "token-changed x1 3-4,5-6"},
		{ReentrantFenced, "0 acquire; 0 ok 5; 0 release; 0 ok; 0 acquire; 0 ok 5", "token-repeated x1 1-2,5-6"},
		{ReentrantFenced, "0 acquire; 0 ok 5; 0 release; 0 ok; 1 acquire; 1 ok 4", "token-regressed x1 1-2,5-6"},
		{ReentrantFenced, "0 acquire; 0 ok 5; 1 acquire; 1 ok 6", "lease-overlap x1 1-2,3-4"},
		// Whether the release happened, the tokens say.
		{ReentrantFenced, "0 acquire; 0 ok 5; 0 release; 0 info; 1 acquire; 1 ok 6; 1 release; 1 ok; 0 acquire; 0 ok 5", "token-repeated x1 1-2,9-10"},

		// With leases, who takes over is granted a higher token, whoever was overtaken.
		{fencedLease, "@0 0 acquire; @5 0 ok 1; @9 1 acquire; @9 1 ok 2", "lease-overlap x1 1-2,3-4"},
		{fencedLease, "@0 0 acquire; @5 0 ok 1; @9 1 acquire; @10 1 ok 1", "token-repeated x1 1-2,3-4"},
		{fencedLease, "@0 0 acquire; @5 0 ok 2; @9 1 acquire; @10 1 ok 1", "token-regressed x1 1-2,3-4"},
		// Of two that wait at once, the lower token is the first one's.
		{fencedLease, "@0 0 acquire; @2 1 acquire; @3 1 ok 2; @30 0 ok 1", "token-regressed x1 2-3,1-4"},

		// A resource that compares tokens accepts no lower one, and does not look at leases.
		{Fenced, "0 write {:token,2}; 0 ok; 1 write {:token,1}; 1 ok; 1 write {:token,2}; 1 ok; 2 write {:token,1}; 2 ok {:fence,1}",
			"stale-write x2 1-2,3-4"},
		{fencedLease, "@0 0 acquire; @5 0 ok 1; @9 1 acquire; @10 1 ok 2; @11 1 write; @12 1 ok {:token,2}; @13 0 write {:token,1}; @14 0 ok",
			"stale-write x1 5-6,7-8"},
		{Lease, "@0 0 acquire; @0 0 ok; @1 0 release; @1 0 ok; @2 0 release; @2 0 ok", "not-held x1 3-4,5-6"},
		{Lease, "@0 0 acquire; @1 0 info; @1 1 acquire; @2 1 ok; @3 0 release; @4 0 ok", "lease-overlap x1 3-4,5-6"},
	} {
		o := optionsOf(c.model)
		if o.leased() {
			o.Lease = 10
		}
		r, err := check(strings.NewReader(script(t, c.script)), o)
		if err != nil {
			t.Errorf("%s, %s: %v", c.model, c.script, err)
			continue
		}
		if got := shown(r); got != c.want || r.Good() {
			t.Errorf("%s, %s: found %q, want %q", c.model, c.script, got, c.want)
		}
	}
}

// forms are one history, in which two hold lock a and nobody else's business is wrong, as different people write it.
var forms = map[string]string{
	"edn lines": `
{:process 0, :type :invoke, :f :acquire, :value ["a" nil], :time 1, :index 0}
{:process :nemesis, :type :info, :f :start-partition, :value #{"n1" {:x [1 2/3 0x1f \a \é \newline #"a\"b" ##Inf nil #inst "2020" #object[java.lang.Object 0x7f "o"]]}}}
{:process 0, :type :ok, :f :acquire, :value ["a" 1], :time 2, :index 5} ; a comment
#jepsen.history.Op{:process 1, :type :invoke, :f :acquire, :value ["a" nil], :error [:timeout 1.5e3 -2N 3M true]}
{:process 1, :type :ok, :f :acquire, :value ["a" 2]}
{:process 2, :type :invoke, :f :acquire, :value ["b" nil]}
{:process 2, :type :ok, :f :acquire, :value ["b" 1]}`,
	"edn vector": `[{:process 0 :type :invoke :f :lock :key :a}

 {:process 0 :type :ok :f :lock :value 1}
 {:process 1 :type :invoke :f :lock :key :a} {:process 1
   :type :ok :f :lock :value 2}
 {:process 2 :type :invoke :f :lock :key :b} {:process 2 :type :ok :f :lock :value 1}]`,
	"edn strings": `({"process" "x" "type" "invoke" "f" "acquire" "value" {"lock" "a"}}

{"process" "x" "type" "ok" "f" "acquire" "value" {"lock" "a" "fence" 1}}
{"process" "y" "type" "invoke" "f" "acquire" "value" {"lock" "a"}}
{"process" "y" "type" "ok" "f" "acquire" "value" {:lock "a" :fence 2}}
{"process" "z" "type" "invoke" "f" "acquire" "value" {"lock" "b"}}
{"process" "z" "type" "ok" "f" "acquire" "value" {"lock" "b" "token" 1}})`,
	"json lines": `
{"process":0,"type":"invoke","f":"acquire","value":["\u0061",null],"time":1}
{"process":"nemesis","type":"info","f":"kill","value":{"n1":[1,-2.5e+3,true,null,"\ud83d\ude00\n\/"]}}
{"process":0,"type":"ok","f":"acquire","value":["a",1]}
{"process":1,"type":"invoke","f":"acquire","value":["a",null]}
{"process":1,"type":"ok","f":"acquire","value":["a",2]}
{"process":2,"type":"invoke","f":"acquire","value":["b",null]}
{"process":2,"type":"ok","f":"acquire","value":["b",1]}
`,
	"json array": `[{":process":0,":type":":invoke",":f":":acquire",":value":["a",null]},

{":process":0,":type":":ok",":f":":acquire",":value":["a",1]},
{"process":1,"type":"invoke","f":"acquire","value":["a",null]},{"process":1,"type":
"ok","f":"acquire","value":["a",2]},
{"process":2,"type":"invoke","f":"acquire","name":"b"},{"process":2,"type":"ok","f":"acquire","value":1}] `,
}

func TestForms(t *testing.T) {
	want := map[string]string{
		"edn lines": "2-4,5-6", "edn vector": "1-3,4-4", "edn strings": "1-3,4-5", "json lines": "2-4,5-6", "json array": "1-3,4-4",
	}
	for name, text := range forms {
		for _, in := range []io.Reader{strings.NewReader(text), iotest.OneByteReader(strings.NewReader(text))} {
			r, err := check(in, Options{Model: Fenced})
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if got := shown(r); got != "lease-overlap x1 "+want[name] || r.Locks != 2 || r.Processes != 3 || r.Findings[0].Lock != "a" ||
				string(r.Format) != strings.Fields(name)[0] || r.Lines != strings.Count(strings.TrimSuffix(text, "\n"), "\n")+1 {
				t.Errorf("%s: %q, %+v", name, got, r)
			}
		}
	}
	// All on one lock, there is one more.
	r, err := check(strings.NewReader(forms["json lines"]), Options{Model: Owner, Group: OneLock})
	if err != nil || shown(r) != "lease-overlap x2 2-4,5-6" || r.Locks != 1 {
		t.Errorf("%v, %+v", err, r)
	}
}

func TestInputThatCannotBeJudged(t *testing.T) {
	const (
		invoke = "{:process 0, :type :invoke, :f :acquire}\n"
		okay   = "{:process 0, :type :ok, :f :acquire}\n"
	)
	for _, c := range []struct {
		in   string
		line int
		err  error
	}{
		{"", 1, ErrEmpty}, {" \n\n", 1, ErrEmpty}, {"[]", 1, ErrEmpty}, {"; nothing\n", 1, ErrEmpty}, {"()", 1, ErrEmpty},
		{"{:process :nemesis, :type :info, :f :kill}\n", 1, ErrEmpty},
		{"hello", 1, ErrSyntax}, {"\n\n\xff\xfe", 3, ErrSyntax}, {"\xef\xbb\xbf{}", 1, ErrOperation},
		{invoke + "{:process 0, :type :ok, :f :acq", 2, ErrTruncated},
		{invoke + `{:process "`, 2, ErrTruncated}, {invoke + `{:process "\`, 2, ErrTruncated}, {invoke + `{:process "\u00`, 2, ErrTruncated},
		{invoke + `{:process \`, 2, ErrTruncated}, {invoke + `{:process #`, 2, ErrTruncated}, {invoke + `{:process ##`, 2, ErrTruncated},
		{"[" + invoke + okay, 3, ErrTruncated}, {`[{"process":0,"type":"invoke","f":"acquire"},`, 1, ErrTruncated},
		{`{"process":0,"type":"invoke","f":"acquire"`, 1, ErrTruncated}, {`{"process":0,"type"`, 1, ErrTruncated}, {`{"process":`, 1, ErrTruncated},
		{"[" + invoke + "]" + okay, 2, ErrSyntax}, {invoke + "]", 2, ErrSyntax}, {"[" + invoke + ")", 2, ErrSyntax},
		{invoke + "{:process 0, :type}", 2, ErrSyntax}, {invoke + "{:process 0x, :type :ok}", 2, ErrSyntax},
		{invoke + "{:process 01, :type :ok}", 2, ErrSyntax}, {invoke + "{:a \"\xff\"}", 2, ErrSyntax}, {invoke + "{:a \xff}", 2, ErrSyntax}, {invoke + "{:a #\"\xff\"}", 2, ErrSyntax},
		{invoke + "{:a \\\xff}", 2, ErrSyntax},
		{invoke + `{:a "\x"}`, 2, ErrSyntax}, {`{"a":[1 2]}`, 1, ErrSyntax}, {invoke + `{:a "\ud800"}`, 2, ErrSyntax},
		{invoke + `{:a "\ud800\u0041"}`, 2, ErrSyntax},
		{invoke + `{:a #_ 1}`, 2, ErrSyntax}, {invoke + `{:a ^b}`, 2, ErrSyntax}, {invoke + `{: 1}`, 2, ErrSyntax},
		{invoke + `{"process":0,"type":"ok","f":"acquire"}` + "\n", 2, ErrSyntax},
		{`{"process":0,"type":"invoke","f":"acquire"}` + "\n" + okay, 2, ErrSyntax},
		{`{"process":0 "type":"invoke"}`, 1, ErrSyntax}, {`{"process":0,"type","invoke"}`, 1, ErrSyntax}, {`{"process":0,}`, 1, ErrSyntax},
		{`{"process":00}`, 1, ErrSyntax}, {`{"process":1.}`, 1, ErrSyntax}, {`{"process":1e}`, 1, ErrSyntax}, {`{"process":nul}`, 1, ErrSyntax},
		{`{"process":+1}`, 1, ErrSyntax}, {"{\"process\":\"\x01\"}", 1, ErrSyntax}, {`[{"process":0,"type":"invoke","f":"acquire"}{}]`, 1, ErrSyntax},
		{`{"process":0,"type":"invoke","f":"acquire"}` + "\n" + `{"seq":1,"t":0,"kind":"crash","process":"c1"}` + "\n", 2, ErrOperation},
		{invoke + "[:process 0]\n", 2, ErrOperation}, {invoke + "42\n", 2, ErrOperation}, {"[[]]", 1, ErrOperation},
		{"{}", 1, ErrOperation}, {"{:type :ok :f :acquire}", 1, ErrOperation}, {"{:process 0 :f :acquire}", 1, ErrOperation},
		{"{:process 0 :type :ok}", 1, ErrOperation}, {"{:process 0 :type :done :f :acquire}", 1, ErrOperation},
		{"{:process 0 :type :invoke :f :aquire}", 1, ErrOperation}, {"{:process 0 :type :invoke :f 3}", 1, ErrOperation},
		{"{:process nil :type :invoke :f :acquire}", 1, ErrOperation}, {"{:process 0 :process 0 :type :invoke :f :acquire}", 1, ErrOperation},
		{"{:process 99999999999999999999 :type :invoke :f :acquire}", 1, ErrOperation},
		{"{:process 1e400 :type :invoke :f :acquire}", 1, ErrOperation}, {`{:process "" :type :invoke :f :acquire}`, 1, ErrOperation},
		{`{:process "` + strings.Repeat("x", 2000) + `" :type :invoke :f :acquire}`, 1, ErrOperation},
		{"{:process 0 :type :invoke :f :acquire :index 1.5}", 1, ErrOperation},
		{okay, 1, ErrMixedUp}, {invoke + invoke, 2, ErrMixedUp}, {invoke + okay + okay, 3, ErrMixedUp},
		{invoke + "{:process 0, :type :ok, :f :release}", 2, ErrMixedUp}, {"{:process 0, :type :info, :f :acquire}", 1, ErrMixedUp},
		{"{:process 0 :type :invoke :f :acquire :index 3}\n{:process 0 :type :ok :f :acquire :index 3}", 2, ErrMixedUp},
		{"{:process 0 :type :invoke :f :acquire :key a}\n{:process 0 :type :ok :f :acquire :key b}", 2, ErrMixedUp},
		{"{:process 0 :type :invoke :f :acquire :key a}\n" + "{:process 1, :type :invoke, :f :acquire}\n", 2, ErrOperation},
		{strings.Repeat("[", 3), 1, ErrTruncated}, {"{:a " + strings.Repeat("[", 1000), 1, ErrTooLarge},
		{"{:a " + strings.Repeat("#a ", 1000), 1, ErrTooLarge}, {`{"a":` + strings.Repeat(`{"a":`, 1000), 1, ErrTooLarge},
		{`{:a "` + strings.Repeat("x", maxSize+1), 1, ErrTooLarge}, {`{:a ` + strings.Repeat("x", maxSize+1), 1, ErrTooLarge},
		{"{:a [" + strings.Repeat("1 ", maxSize), 1, ErrTooLarge},
		{"{" + strings.Repeat(" ", maxSize+1<<17) + "1 2}", 1, ErrTooLarge},
	} {
		r, err := check(strings.NewReader(c.in), Options{Model: Owner})
		invalid := (*InputError)(nil)
		if r != nil || !errors.Is(err, c.err) || !errors.As(err, &invalid) || invalid.Line != c.line {
			t.Errorf("%.80q: %v, %v; want line %d, %v", c.in, r, err, c.line, c.err)
		}
	}
	broken := errors.New("broken pipe")
	for _, in := range []string{"", invoke, invoke + "{:process", `[{"process":0,"type":"invoke","f":"acquire"}`, invoke + strings.Repeat(" ", 1<<17)} {
		_, err := check(io.MultiReader(strings.NewReader(in), iotest.ErrReader(broken)), Options{Model: Reentrant})
		if !errors.Is(err, broken) {
			t.Errorf("%.80q: %v", in, err)
		}
	}
}

func TestModelsNeedWhatTheyNeed(t *testing.T) {
	timed := script(t, "@5 0 acquire; @4 0 ok")
	for _, c := range []struct {
		in   string
		o    Options
		line int
		err  error
	}{
		{timed, Options{Model: Lease, Lease: 1}, 2, ErrMixedUp},
		{strings.ReplaceAll(timed, ":time 4", ""), Options{Model: Lease, Lease: 1}, 2, ErrOperation},
		{strings.ReplaceAll(timed, "4", "4.5"), Options{Model: Lease, Lease: 1}, 2, ErrOperation},
		{strings.ReplaceAll(timed, "4", "44444444444444444444"), Options{Model: Lease, Lease: 1}, 2, ErrOperation},
		// Only in seconds since 1970 may it have a fraction.
		{strings.ReplaceAll(timed, "4", "1764408041.5"), Options{Model: Lease, Lease: 1}, 2, ErrOperation},
		{timed, Options{Model: Fenced}, 2, ErrOperation},
		{script(t, "0 acquire; 0 ok 44444444444444444444"), Options{Model: Fenced}, 2, ErrOperation},
		{timed, Options{Model: Owner, Group: ByKey}, 2, ErrOperation},
		{script(t, "0 acquire"), Options{Model: Owner, Group: ByKey}, 1, ErrOperation},
		{timed, Options{}, 0, ErrOptions}, {timed, Options{Model: "mutx"}, 0, ErrOptions},
		{script(t, "@5 0 acquire; @6 0 ok"), Options{Model: Lease}, 1, ErrOptions},
		{timed, Options{Model: Reentrant, Lease: 1}, 0, ErrOptions},
		{timed, Options{Model: Owner, Lease: 1}, 0, ErrOptions}, {timed, Options{Model: Owner, Group: "x"}, 0, ErrOptions},
	} {
		r, err := check(strings.NewReader(c.in), c.o)
		invalid := (*InputError)(nil)
		if r != nil || !errors.Is(err, c.err) || errors.As(err, &invalid) != (c.line > 0) || c.line > 0 && invalid.Line != c.line {
			t.Errorf("%q, %+v: %v, %v; want line %d, %v", c.in, c.o, r, err, c.line, c.err)
		}
	}
	if r, err := check(strings.NewReader(timed), Options{Model: Owner}); err != nil || !r.Good() {
		t.Errorf("times matter to the model owner: %v", err)
	}
	texts := `{:process 0 :type :invoke :f :acquire :value "a"} {:process 0 :type :ok :f :acquire}
		{:process 1 :type :invoke :f :acquire :value :b} {:process 1 :type :ok :f :acquire}`
	for group, want := range map[Grouping]bool{ByNameIfAny: false, ByKey: true, OneLock: false} {
		if r, err := check(strings.NewReader(texts), Options{Model: Owner, Group: group}); err != nil || r.Good() != want {
			t.Errorf("grouped by %s: %+v, %v", group, r, err)
		}
	}
}

// answered is what Check finds in a history, whose leases last for 10 where the model has any, or its error.
func answered(t *testing.T, m Model, history string, semaphores ...checker.Semaphore) string {
	t.Helper()
	o := optionsOf(m)
	if o.leased() {
		o.Lease = 10
	}
	o.Semaphores = semaphores
	r, err := check(strings.NewReader(script(t, history)), o)
	switch {
	case err != nil:
		return err.Error()
	}
	return shown(r)
}

// So they are in a history of another's, where a lock that has no name has that of the one semaphore.
func TestSemaphore(t *testing.T) {
	pool := func(permits int) []checker.Semaphore { return []checker.Semaphore{{Name: "pool", Permits: permits}} }
	const three = "0 acquire; 0 ok; 1 acquire; 1 ok; 2 acquire; 2 ok; 0 release; 0 ok; 1 release; 1 ok; 2 release; 2 ok"
	named := strings.NewReplacer("acquire", "acquire [pool,nil]", "release", "release [pool,nil]").Replace(three)
	for _, c := range []struct {
		model      Model
		script     string
		semaphores []checker.Semaphore
		want       string
	}{
		{Mutex, three, pool(2), "lease-overlap x1 3-4,5-6; not-held x1 9-10,11-12"}, {Mutex, three, pool(3), ""},
		{Owner, three, pool(2), "lease-overlap x1 1-2,3-4,5-6"}, {Owner, three, pool(3), ""},
		{Owner, named, pool(2), "lease-overlap x1 1-2,3-4,5-6"}, {Owner, named, pool(3), ""},
		{Owner, three, pool(1), "lease-overlap x2 1-2,3-4"},
		{Owner, "0 acquire; 0 ok; 1 acquire; 1 ok; 2 acquire; 0 release; 2 ok; 0 ok", pool(2), ""},
		{Owner, "0 acquire; 0 ok; 1 release; 1 ok", pool(2), "not-held x1 3-4"},
		{Mutex, "0 acquire; 0 ok; 1 release; 1 ok", pool(2), ""},
		{Lease, "@0 0 acquire; @1 0 ok; @2 1 acquire; @3 1 ok; @9 2 acquire; @10 2 ok", pool(2), ""},
		{Lease, "@0 0 acquire; @1 0 ok; @2 1 acquire; @3 1 ok; @8 2 acquire; @9 2 ok", pool(2), "lease-overlap x1 1-2,3-4,5-6"},
		// Who renews after its lease still has its permit.
		{Lease, "@0 0 acquire; @1 0 ok; @2 1 acquire; @3 1 ok; @10 2 acquire; @11 2 ok; @11 0 extend; @12 0 ok", pool(2),
			"lease-overlap x1 1-2,3-4,5-6"},
		{Owner, "0 acquire; 0 ok; 0 acquire; 0 ok", pool(2), "line 3: cannot be judged: process 0 may hold the lock twice at a time; " +
			"give each hold a process of its own"},
		{Owner, "0 acquire; 0 ok; 0 acquire; 0 info; 0 release; 0 ok; 0 release; 0 ok", pool(2), "line 3: cannot be judged: " +
			"process 0 may hold the lock twice at a time; give each hold a process of its own"},
		{Reentrant, three, pool(2), "line 1: cannot be judged: a semaphore with the model reentrant; with owner and lease it can"},
		{Owner, named, []checker.Semaphore{{Name: "r", Permits: 2}}, `wrong options: the history has no lock "r"`},
		{Owner, three, append(pool(2), checker.Semaphore{Name: "r", Permits: 2}), "wrong options: the history names no locks, so that only one can be a semaphore"},
	} {
		if got := answered(t, c.model, c.script, c.semaphores...); got != c.want {
			t.Errorf("%s, %s: %q, want %q", c.model, c.script, got, c.want)
		}
	}
}

// Many hold a read-write lock to read, and one to write.
func TestReadWriteLock(t *testing.T) {
	for _, c := range []struct {
		model        Model
		script, want string
	}{
		{Owner, "0 read-lock; 0 ok; 1 read-lock; 1 ok; 0 read-unlock; 0 ok; 1 unlock; 1 ok; 2 write-lock; 2 ok", ""},
		{Owner, "0 read-lock; 0 ok; 1 write-lock; 1 ok", "lease-overlap x1 1-2,3-4"},
		{Owner, "0 write-lock; 0 ok; 1 read-lock; 1 ok", "lease-overlap x1 1-2,3-4"},
		{Owner, "0 read-lock; 0 ok; 1 read-lock; 1 ok; 0 unlock; 0 ok; 2 lock; 2 ok", "lease-overlap x1 3-4,7-8"},
		{Owner, "0 rlock; 0 ok; 1 acquire_shared; 1 ok; 2 lock-exclusive; 0 runlock; 1 release_shared; 2 ok", ""},
		{Owner, "0 read-lock; 0 ok; 0 write-unlock; 0 ok", "not-held x1 3-4"},
		{Owner, "0 lock; 0 ok; 0 write-unlock; 0 ok; 1 read-lock; 1 ok", ""},
		{Reentrant, "0 lock {:mode,exclusive}; 0 ok; 0 lock; 0 ok; 0 unlock; 0 ok; 0 write-unlock; 0 ok; 1 lock; 1 ok", ""},
		{Owner, "0 lock {:mode,read}; 0 ok; 1 lock {:mode,:shared}; 1 ok; 2 lock {:mode,write}; 2 fail; 2 release; 2 fail", ""},
		{Lease, "@0 0 read-lock; @1 0 ok; @5 1 read-lock; @6 1 ok; @15 2 write-lock; @15 2 ok", ""},
		{Lease, "@0 0 read-lock; @1 0 ok; @5 1 read-lock; @6 1 ok; @14 2 write-lock; @14 2 ok", "lease-overlap x1 3-4,5-6"},
		{Owner, "0 read-lock; 0 ok; 0 write-lock; 0 ok", "line 3: cannot be judged: process 0 may hold the lock twice at a time; " +
			"give each hold a process of its own"},
		// In which mode the lock was held nobody knows: in the one that excludes less.
		{Owner, "0 read-lock; 0 info; 0 write-lock; 0 info; 0 unlock; 0 ok", ""},
		{Owner, "1 read-lock; 1 ok; 0 read-lock; 0 info; 0 write-lock; 0 info; 0 unlock; 0 ok", ""},
		{Owner, "1 write-lock; 1 ok; 0 read-lock; 0 info; 0 write-lock; 0 info; 0 unlock; 0 ok", "lease-overlap x1 1-2,7-8"},
		{Mutex, "0 read-lock; 0 ok", "line 1: cannot be judged: a read-write lock with the model mutex; with owner and lease it can"},
		{Fenced, "0 read-lock; 0 ok 1", "line 1: cannot be judged: a read-write lock with the model fenced; with owner and lease it can"},
		{Owner, "0 read-lock {:mode,write}; 0 ok", "line 1: not an operation: the mode is exclusive, but the function shared"},
		{Owner, "0 lock {:mode,fast}; 0 ok", `line 1: not an operation: unknown mode "fast": must be read or shared, write or exclusive`},
	} {
		if got := answered(t, c.model, c.script); got != c.want {
			t.Errorf("%s, %s: %q, want %q", c.model, c.script, got, c.want)
		}
	}
}

// Whatever it is given, Check answers with a report or with an error that has a line, for any model.
func FuzzCheck(f *testing.F) {
	for _, text := range forms {
		f.Add(text)
	}
	for _, text := range []string{"", "[", "{:a #{1 2} :b #\"\\", "{\"process\":0,\"type\":\"invoke\",\"f\":\"acquire\",\"value\":[[],{\"token\":1}]}",
		"{:process 0 :type :invoke :f :acquire :value [1 [2]] :time -9223372036854775808}{:process 0 :type :ok :f :acquire :value [1 2] :time 9223372036854775807}",
		"[{:process 0 :type :invoke :f :release :value {}}]", "({:process -0 :type invoke :f extend})", strings.Repeat("[{", 200),
		`{"process":0,"type":"invoke","f":"read-lock","time":1764408041,"ttl":"PT5M","lease_ms":2.5e3}`,
		`{"process":0,"type":"invoke","f":"write","time":"2026-11-25 12:00:00,1 +0000","token":-1,"mode":"read"}`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, in string) {
		for _, m := range append(kinds(), "semaphore") {
			o := Options{Model: m}
			if m == Lease || m == fencedLease {
				o = optionsOf(m)
				o.Lease, o.Unit = time.Second, 0
			}
			if m == "semaphore" {
				o.Model, o.Semaphores = Owner, []checker.Semaphore{{Name: "a", Permits: 2}}
			}
			r, err := check(strings.NewReader(in), o)
			invalid := (*InputError)(nil)
			switch {
			case (r == nil) == (err == nil):
				t.Fatalf("%v and %v", r, err)
			case err != nil && !errors.Is(err, ErrOptions) && !errors.As(err, &invalid):
				t.Fatalf("no line: %v", err)
			case invalid != nil && (invalid.Line < 1 || invalid.Line > strings.Count(in, "\n")+1):
				t.Fatalf("line %d", invalid.Line)
			}
		}
	})
}

func TestManyFindingsAreCountedNotListed(t *testing.T) {
	var b strings.Builder
	for lock := range 3 * maxFindings {
		for _, p := range []int{0, 1} {
			fmt.Fprintf(&b, `{"process":%d,"type":"invoke","f":"lock","key":%d}{"process":%d,"type":"ok","f":"lock"}`, p, lock, p)
		}
	}
	r, err := check(strings.NewReader(b.String()), Options{Model: Owner})
	if err != nil || len(r.Findings) != maxFindings || r.Broken != 3*maxFindings {
		t.Errorf("%d of %d findings, %v", len(r.Findings), r.Broken, err)
	}
}
