package kernel

import (
	"bytes"
	"io"
	"math/bits"
	"testing"
)

// TestKeysAreStable pins what is drawn: seeds and hashes that people wrote down must mean the same on every machine, in
// every version of Go and of this package.
func TestKeysAreStable(t *testing.T) {
	k := New(Config{Seed: 7}).Draw("purpose")
	var d digest
	d.add(1)
	d.add(1 << 63)
	read := make([]byte, 11)
	if _, err := io.ReadFull(&stream{key: k}, read); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		what      string
		got, want uint64
	}{
		{"With", uint64(Key(0).With(0)), 0xec24d5a9b6185575},
		{"With, large", uint64(Key(1 << 63).With(1<<64 - 1)), 0xb0fb88eaf7008eaa},
		{"WithString", uint64(Key(1).WithString("client-1")), 0x220ab3296da24d96},
		{"WithString, empty", uint64(Key(1).WithString("")), 0x53fc76e669196174},
		{"WithString, long", uint64(Key(1).WithString("a rather long purpose")), 0xa17c6fe9c970dfe1},
		{"Draw", uint64(k), 0x44d2078a57f94177},
		{"Below", k.Below(1_000_000_007), 0xa1c439f},
		{"digest", d.a ^ bits.RotateLeft64(d.b, 1), 0x85641cf7a48baa7f},
		{"stream", uint64(Key(0).WithString(string(read))), 0xf38212b75a331796},
	} {
		if test.got != test.want {
			t.Errorf("%s: %#x, want %#x", test.what, test.got, test.want)
		}
	}
}

// TestKeysAreEven: keys for neighbouring purposes share nothing that shows.
func TestKeysAreEven(t *testing.T) {
	const n = 1 << 15
	for name, key := range map[string]func(i uint64) Key{
		"parts":  func(i uint64) Key { return Key(3).With(i) },
		"seeds":  func(i uint64) Key { return New(Config{Seed: i}).Draw("x") },
		"nested": func(i uint64) Key { return Key(3).With(i >> 8).With(i & 255) },
		"names":  func(i uint64) Key { return Key(3).WithString(string([]byte{byte(i), byte(i >> 8)})) },
		"high":   func(i uint64) Key { return Key(3).With(i << 48) },
	} {
		seen := map[Key]bool{}
		var ones [64]int
		var buckets [16]int
		for i := range uint64(n) {
			k := key(i)
			if seen[k] {
				t.Errorf("%s: a key comes twice", name)
			}
			seen[k] = true
			for b := range ones {
				ones[b] += int(k >> b & 1)
			}
			buckets[k.Below(16)]++
		}
		for b, got := range ones {
			if got < n/2-500 || got > n/2+500 { // 5.5 standard deviations
				t.Errorf("%s: bit %d is set in %d of %d keys", name, b, got, n)
			}
		}
		for b, got := range buckets {
			if got < n/16-250 || got > n/16+250 {
				t.Errorf("%s: %d of %d draws below 16 are %d", name, got, n, b)
			}
		}
	}
}

func TestBelowStaysBelow(t *testing.T) {
	for _, n := range []uint64{1, 2, 3, 1 << 63, 1<<64 - 1} {
		for i := range 1000 {
			if got := Key(i).Below(n); got >= n {
				t.Fatalf("%d below %d", got, n)
			}
		}
	}
}

// TestStreamIsOneSequence: how the bytes are asked for does not change them.
func TestStreamIsOneSequence(t *testing.T) {
	whole := make([]byte, 64)
	a, b := &stream{key: 5}, &stream{key: 5}
	_, _ = a.Read(whole)
	half := make([]byte, 64)
	_, _ = b.Read(half[:32])
	_, _ = b.Read(half[32:])
	if !bytes.Equal(whole, half) {
		t.Errorf("%x\n%x", whole, half)
	}
}

func TestRandDependsOnThePurposeOnly(t *testing.T) {
	read := func(disturb bool) (got [20]byte) {
		k := New(Config{Seed: 1})
		p, q := k.NewProcess("p", Monotonic), k.NewProcess("q", Monotonic)
		if disturb {
			q.Go(func() { _, _ = q.Rand().Read(make([]byte, 100)) })
			p.Go(func() { _, _ = p.Rand().Read(make([]byte, 7)) })
		}
		p.Go(func() {
			if disturb {
				_, _ = p.Rand().Read(make([]byte, 3))
			}
			p.Purpose(k.Draw("it"))
			_, _ = p.Rand().Read(got[:])
		})
		k.Run(1)
		return got
	}
	if a, b := read(false), read(true); a != b || a == [20]byte{} {
		t.Errorf("%x and %x", a, b)
	}
}

// Only the random bytes of the Runtime are counted, and fail for as long as somebody starves the process.
func TestStarved(t *testing.T) {
	p := New(Config{Seed: 1}).NewProcess("p", Monotonic)
	want := func(fails bool, drawn int) {
		t.Helper()
		_, err := p.Runtime().Rand.Read(make([]byte, 1))
		if (err != nil) != fails || p.Drawn() != drawn {
			t.Errorf("%v, after %d readings, want %v after %d", err, p.Drawn(), fails, drawn)
		}
		if _, err := p.Rand().Read(make([]byte, 1)); err != nil || p.Drawn() != drawn {
			t.Errorf("other bytes: %v, after %d readings, want %d", err, p.Drawn(), drawn)
		}
	}
	want(false, 1)
	one, other := p.Starve(), p.Starve()
	want(true, 2)
	one()
	want(true, 3)
	other()
	want(false, 4)
}
