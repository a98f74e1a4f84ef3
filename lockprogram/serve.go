package lockprogram

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"redlocksim/lockprogram/lines"
)

// Serve runs the program: it makes the lock when it is told to, and does what it is asked for until it is closed or its
// standard input ends. It does not return.
func Serve(lock func(Env) (Locker, error)) {
	if err := serve(os.Stdin, os.Stdout, lock); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// maxLine is the length of the longest line that is read.
const maxLine = 1 << 20

func serve(in io.Reader, out io.Writer, lock func(Env) (Locker, error)) error {
	p := &program{make: lock, out: json.NewEncoder(out), leases: map[int]Lease{}, calls: map[int]context.CancelFunc{}}
	scanner := bufio.NewScanner(in)
	scanner.Buffer(nil, maxLine)
	for scanner.Scan() {
		var r lines.Request
		if err := json.Unmarshal(scanner.Bytes(), &r); err != nil {
			return fmt.Errorf("lockprogram: not a request: %w: %s", err, scanner.Text())
		}
		switch {
		case r.Type == lines.RequestInit && r.Init != nil:
			p.begin(r)
		case p.locker == nil:
			return fmt.Errorf("lockprogram: asked for %q before it was told to init", r.Type)
		case r.Type == lines.RequestCancel:
			p.cancel(r.Call)
		default:
			ctx := p.call(r.ID) // here, since the next line may cancel it
			go func() {
				p.do(ctx, r)
				p.cancel(r.ID)
			}()
		}
	}
	return scanner.Err()
}

// program is a lock program.
type program struct {
	make   func(Env) (Locker, error)
	locker Locker

	mu     sync.Mutex // guards what follows
	out    *json.Encoder
	leases map[int]Lease
	calls  map[int]context.CancelFunc // by the ID of the request that is under way
}

// call makes the context of a request.
func (p *program) call(id int) context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls[id] = cancel
	return ctx
}

// cancel ends the context of a request, if it is under way.
func (p *program) cancel(id int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if cancel := p.calls[id]; cancel != nil {
		cancel()
		delete(p.calls, id)
	}
}

// say writes a line.
func (p *program) say(a lines.Answer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.out.Encode(a); err != nil {
		fmt.Fprintln(os.Stderr, "lockprogram:", err)
		os.Exit(1) // nobody listens
	}
}

// milliseconds is a time as lines have it, and ms the reverse.
func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
func ms(f float64) time.Duration           { return time.Duration(f * float64(time.Millisecond)) }

// begin makes the lock.
func (p *program) begin(r lines.Request) {
	locker, err := p.make(Env{Name: r.Init.Name, Nodes: r.Init.Nodes, TTL: ms(r.Init.TTL), NodeTimeout: ms(r.Init.NodeTimeout),
		Settings: r.Init.Settings, Dial: Dial})
	if err != nil {
		p.say(lines.Answer{Type: lines.Failed, Re: r.ID, Reason: err.Error()})
		return
	}
	p.locker = locker
	about := locker.About()
	ready := lines.Answer{Type: lines.Ready, Re: r.ID, Library: about.Library, Version: about.Version, Settings: about.Settings, Keys: about.Keys,
		Server: about.Server, Protocols: about.Protocols, Can: []lines.Capability{lines.Cancel}}
	_, waits := locker.(Waiter)
	_, closes := locker.(Closer)
	_, prepares := locker.(Preparer)
	for _, c := range []struct {
		can  bool
		what lines.Capability
	}{{waits, lines.Wait}, {about.Extends, lines.Extend}, {about.TellsUntil, lines.TellUntil}, {about.TellsLost, lines.TellLost}, {about.Warns, lines.Warn}, {about.Fences, lines.TellToken},
		{closes, lines.Close}, {prepares, lines.Prepare}, {about.OneNode, lines.OneNode}, {about.Renews, lines.Renew}, {about.Transacts, lines.Transact}} {
		if c.can {
			ready.Can = append(ready.Can, c.what)
		}
	}
	p.say(ready)
}

// do does what is asked for.
func (p *program) do(ctx context.Context, r lines.Request) {
	switch r.Type {
	case lines.RequestTryLock:
		lease, err := p.locker.TryLock(ctx, r.Resource, ms(r.TTL))
		p.locked(r, lease, err)
	case lines.RequestLock:
		w, waits := p.locker.(Waiter)
		if !waits {
			p.say(lines.Answer{Type: lines.Refused, Re: r.ID, Reason: "this lock does not wait"})
			return
		}
		ctx, cancel := context.WithTimeout(ctx, ms(r.Wait))
		defer cancel()
		lease, err := w.Lock(ctx, r.Resource, ms(r.TTL))
		p.locked(r, lease, err)
	case lines.RequestExtend:
		p.extend(ctx, r)
	case lines.RequestRead, lines.RequestWrite:
		tx, is := p.lease(r.Lease).(Transaction)
		if !is {
			p.say(lines.Answer{Type: lines.Refused, Re: r.ID, Reason: "there is no such lease of a transaction"})
			return
		}
		p.say(access(ctx, r, tx))
	case lines.RequestUnlock:
		lease := p.lease(r.Lease)
		if lease == nil {
			p.say(lines.Answer{Type: lines.Refused, Re: r.ID, Reason: "there is no such lease"})
			return
		}
		p.say(outcome(r, lines.Released, nil, lease.Unlock(ctx)))
	case lines.RequestClose:
		c, closes := p.locker.(Closer)
		if !closes {
			p.say(lines.Answer{Type: lines.Refused, Re: r.ID, Reason: "this lock cannot be closed"})
			return
		}
		p.say(outcome(r, lines.Closed, nil, c.Close(ctx)))
	case lines.RequestPrepare:
		prepares, can := p.locker.(Preparer)
		if !can {
			p.say(lines.Answer{Type: lines.Refused, Re: r.ID, Reason: "this lock needs no preparation"})
			return
		}
		p.say(outcome(r, lines.Prepared, nil, prepares.Prepare(ctx)))
	default:
		p.say(lines.Answer{Type: lines.Unknown, Re: r.ID, Reason: fmt.Sprintf("there is no request %q", r.Type)})
	}
}

// extend extends a lease. One that was not extended lasts as long as it did.
func (p *program) extend(ctx context.Context, r lines.Request) {
	lease := p.lease(r.Lease)
	e, extends := lease.(Extender)
	if !extends {
		p.say(lines.Answer{Type: lines.Refused, Re: r.ID, Reason: "there is no such lease that can be extended"})
		return
	}
	err := e.Extend(ctx, ms(r.TTL))
	a := outcome(r, lines.Extended, lease, err)
	if left := validFor(lease); err != nil && left != nil && *left > 0 {
		a.Valid = left
	}
	p.say(a)
}

func (p *program) lease(id int) Lease {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.leases[id]
}

// locked answers a request for the lock.
func (p *program) locked(r lines.Request, lease Lease, err error) {
	if err == nil {
		p.mu.Lock()
		p.leases[r.ID] = lease
		p.mu.Unlock()
	}
	a := outcome(r, lines.Granted, lease, err)
	if f, fenced := lease.(Fenced); fenced && err == nil {
		if token, has := f.Token(); has {
			a.Token = &token
		}
	}
	p.say(a)
	if err != nil {
		return
	}
	if l, losing := lease.(Losing); losing {
		go p.tell(l.Lost(), lines.Answer{Type: lines.Lost, Lease: r.ID})
	}
	if x, renewing := lease.(Renewing); renewing {
		go p.tellRenewals(r.ID, x.Renewed())
	}
	if w, warns := lease.(Warning); warns {
		go p.tell(w.Expiring(), lines.Answer{Type: lines.Expiring, Lease: r.ID})
	}
}

// tell says something when a channel is closed.
func (p *program) tell(when <-chan struct{}, what lines.Answer) {
	<-when
	p.say(what)
}

// access reads or writes in a transaction.
func access(ctx context.Context, r lines.Request, tx Transaction) lines.Answer {
	if r.Type == lines.RequestWrite {
		err := tx.Write(ctx, r.Number, r.Note)
		return outcome(r, lines.Done, tx.(Lease), err)
	}
	number, err := tx.Read(ctx)
	a := outcome(r, lines.Done, tx.(Lease), err)
	a.Number = number
	return a
}

// tellRenewals says until when a lease is valid, each time that it is renewed.
func (p *program) tellRenewals(lease int, renewed <-chan time.Time) {
	for until := range renewed {
		left := milliseconds(time.Until(until))
		p.say(lines.Answer{Type: lines.Renewed, Lease: lease, Valid: &left})
	}
}

// outcome is the answer to a request: done if there is no error. lease, if not nil, may say until when it is valid.
func outcome(r lines.Request, done lines.AnswerType, lease Lease, err error) lines.Answer {
	a := lines.Answer{Type: done, Re: r.ID}
	if err != nil {
		a.Type, a.Reason = lines.Unknown, err.Error()
		if isRefused(err) {
			a.Type = lines.Refused
		}
		return a
	}
	a.Valid = validFor(lease)
	return a
}

// validFor is for how long a lease is valid, in milliseconds; nil if it does not say.
func validFor(lease Lease) *float64 {
	v, valid := lease.(Valid)
	if !valid {
		return nil
	}
	left := milliseconds(time.Until(v.Until()))
	return &left
}
