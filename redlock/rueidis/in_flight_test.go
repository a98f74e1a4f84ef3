package rueidis

import (
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
)

// A conversation is lines: "> PING" is a command that is sent, "< +PONG" what is answered, and "! :1" what is answered
// and refused. A space in what is answered is the end of a line.
func TestAsked(t *testing.T) {
	for name, conversation := range map[string]string{
		"commands":             "> SET\n> GET\n< +OK\n< *1 :1\n! :1",
		"nothing asked":        "! +OK",
		"a push":               "> HELLO 3\n< %1 +proto :3\n> SET\n! >2 +invalidate *0",
		"RESP3":                "> HELLO 3\n< %1 +proto :3\n> SUBSCRIBE a b\n< >3 $9 subscribe $1 a :1\n< >3 $7 message $1 a $1 x\n< >3 $9 subscribe $1 b :2\n> PING\n< +PONG\n> UNSUBSCRIBE a\n> PING\n< >3 $11 unsubscribe $1 a :1\n< +PONG\n< >3 $7 message $1 b $1 x\n! +PONG",
		"RESP2":                "> HELLO 2\n< *2 +proto :2\n> SUBSCRIBE a b\n< *3 $9 subscribe $1 a :1\n< *3 $7 message $1 a $1 x\n< *3 $9 subscribe $1 b :2\n> PING\n< *2 $4 pong $0 \n> UNSUBSCRIBE a\n> PING\n< *3 $11 unsubscribe $1 a :1\n< *2 $4 pong $0 \n! *2 $4 pong $0 ",
		"forbidden":            "> HELLO 3\n< %1 +proto :3\n> SUBSCRIBE a\n< -NOPERM\n> PING\n< -NOPERM\n! -NOPERM",
		"confirmed too often":  "> HELLO 3\n< %1 +proto :3\n> SUBSCRIBE a\n< >3 $9 subscribe $1 a :1\n! >3 $9 subscribe $1 a :1",
		"confirmed for a PING": "> HELLO 3\n< %1 +proto :3\n> SUBSCRIBE a\n< >3 $9 subscribe $1 a :1\n> PING\n! >3 +subscribe $1 a :1",
		"queued":               "> SUBSCRIBE a\n! +QUEUED",
		"queued as an error":   "> SUBSCRIBE a\n! -QUEUED",
		"a number":             "> SUBSCRIBE a\n! :1",
		"an old list":          "> HELLO 3\n< %1 +proto :3\n> SUBSCRIBE a b\n! *3 $9 subscribe $1 a :1",
		"no pong":              "> SUBSCRIBE a\n< *3 $9 subscribe $1 a :1\n> UNSUBSCRIBE a\n> PING\n! -ERR no",
		"another type":         "> HELLO 3\n< %1 +proto :3\n> SUBSCRIBE a\n! >3 ,subscribe $1 a :1",
		"an attribute before":  "> HELLO 3\n< %1 +proto :3\n> SUBSCRIBE a\n! >3 |1 +a +b $9 subscribe $1 a :1",
	} {
		t.Run(name, func(t *testing.T) {
			server, ours := net.Pipe()
			defer server.Close()
			defer ours.Close()
			conn := follow(ours)
			for line := range strings.SplitSeq(conversation, "\n") {
				what := line[2:]
				if line[0] == '>' {
					words := strings.Fields(what)
					sent := fmt.Sprintf("*%d\r\n", len(words))
					for _, w := range words {
						sent += fmt.Sprintf("$%d\r\n%s\r\n", len(w), w)
					}
					go io.ReadFull(server, make([]byte, len(sent)))
					if _, err := conn.Write([]byte(sent)); err != nil {
						t.Fatal(err)
					}
					continue
				}
				answer := strings.ReplaceAll(what, " ", "\r\n") + "\r\n"
				go io.WriteString(server, answer)
				_, err := io.ReadFull(conn, make([]byte, len(answer)))
				if isRefused := err != nil; isRefused != (line[0] == '!') {
					t.Fatalf("%q: %v", line, err)
				}
			}
		})
	}
}
