//go:build unix

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"redlocksim/internal/adaptertest"
	"redlocksim/redlock/goredis"
)

// A server may say anything: that is an error of that server, and the keys of the others are listed.
func TestKeysOfAHostileServer(t *testing.T) {
	good := miniredis.RunT(t)
	if err := good.Set("orders/1", "value"); err != nil {
		t.Fatal(err)
	}
	good.SetTTL("orders/1", time.Hour)
	for _, s := range adaptertest.Sayings {
		for _, from := range []adaptertest.Stage{adaptertest.Handshake, "info", "scan"} {
			t.Run(string(from)+"/"+s.Name, func(t *testing.T) {
				c := &cluster{T: t}
				began := time.Now()
				addr := adaptertest.Hostile(t, s, from)
				out, errs := c.keys(exitUsage, "--timeout", "200ms", good.Addr(), addr)
				if took := time.Since(began); took > 5*time.Second {
					t.Errorf("it took %v", took)
				}
				if !strings.HasPrefix(errs, "redlocksim: "+addr+": ") || !strings.Contains(out, "orders/1") {
					t.Errorf("got\n%s%s", out, errs)
				}
			})
		}
	}
}

// scripted is a server that answers SCAN, and refuses everything else.
func scripted(t *testing.T, scan func(page int) string) (addr string) {
	return adaptertest.Server(t, func(conn net.Conn) {
		page := 0
		adaptertest.Answering(func(words []string) string {
			if strings.ToLower(words[0]) != "scan" {
				return "-ERR not now\r\n"
			}
			page++
			return scan(page)
		})(conn)
	})
}

func TestKeysOfAnEndlessScan(t *testing.T) {
	c := &cluster{T: t}
	addr := scripted(t, func(page int) string {
		cursor := fmt.Sprint(page)
		return fmt.Sprintf("*2\r\n$%d\r\n%s\r\n*0\r\n", len(cursor), cursor)
	})
	if _, errs := c.keys(exitUsage, addr); errs != "redlocksim: "+addr+": its SCAN does not come to an end, though it says that it has 0 keys\n" {
		t.Error(errs)
	}
}

func TestKeysAreBounded(t *testing.T) {
	server := miniredis.RunT(t)
	for i := range 10 {
		if err := server.Set(fmt.Sprint("key-", i), "value"); err != nil {
			t.Fatal(err)
		}
	}
	client := goredis.NewClient(&redis.Options{Addr: server.Addr()})
	defer client.Close()
	for kept, isTooMuch := range map[int]bool{maxKept - 2000: false, maxKept - 1000: true} {
		f := &found{kept: kept}
		err := f.scan(context.Background(), client, "*", 5*time.Second)
		if (err != nil) != isTooMuch || isTooMuch && err.Error() != "more than 256 MiB of keys: name yours with --match" {
			t.Errorf("with %d bytes: %v", kept, err)
		}
	}
}

// What a server says is one line of printable text, and a short one.
func TestKeysPrintsWhatServersSay(t *testing.T) {
	c := &cluster{T: t}
	addr := scripted(t, func(int) string { return "-ERR \x1b[31mred\x1b]0;title\a\u202e" + strings.Repeat("x", 5000) + "\r\n" })
	out, errs := c.keys(exitUsage, addr)
	js, _ := c.keys(exitUsage, "--json", addr)
	var report keysReport
	if err := json.Unmarshal([]byte(js), &report); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{out, errs, report.Nodes[0].Error} {
		if i := strings.IndexFunc(text, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }); i >= 0 || len(text) > 1000 {
			t.Errorf("%d bytes: %.600q", len(text), text)
		}
	}
	if !strings.Contains(errs, `ERR \x1b[31mred\x1b]0;title\a\u202exxx`) {
		t.Error(errs)
	}
}
