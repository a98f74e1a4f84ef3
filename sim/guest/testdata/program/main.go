// Command program does what a test asks for.
package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"time"

	"redlocksim/lockprogram"
)

func main() {
	switch os.Args[1] {
	case "exits":
		fmt.Fprintln(os.Stderr, "no reason")
		os.Exit(3)
	case "panics":
		panic("on purpose")
	case "loops":
		for {
		}
	case "reads-the-clock":
		for start := time.Now(); time.Since(start) < 20*time.Microsecond; {
		}
		fmt.Println("done")
	case "floods":
		for {
			fmt.Println(strings.Repeat("x", 1000))
		}
	case "endless-line":
		for {
			fmt.Print(strings.Repeat("x", 1000))
		}
	case "uses-memory":
		var all [][]byte
		for {
			all = append(all, make([]byte, 1<<20))
		}
	case "sleeps":
		for i := range 3 {
			start := time.Now()
			time.Sleep(time.Second)
			fmt.Println(i, time.Since(start).Round(time.Millisecond), time.Now().UTC().Format("15:04:05.000"))
		}
	case "draws":
		work()
	case "dials":
		dials()
	case "echoes":
		for in := bufio.NewScanner(os.Stdin); in.Scan(); {
			fmt.Println(in.Text(), time.Now().UTC().Format("15:04:05.000"))
		}
	}
	io.Copy(io.Discard, os.Stdin) // which does not end before the run does
}

// work has goroutines draw random bytes and wait for each other.
func work() {
	var mu sync.Mutex
	var wait sync.WaitGroup
	for i := range 20 {
		wait.Go(func() {
			var raw [4]byte
			rand.Read(raw[:])
			time.Sleep(time.Duration(raw[0]) * time.Millisecond)
			mu.Lock()
			defer mu.Unlock()
			fmt.Println(i, raw, time.Now().UnixNano())
		})
	}
	wait.Wait()
}

// dials connects to the address of each argument, and sends it what comes after that.
func dials() {
	for _, arg := range os.Args[2:] {
		address, text, _ := strings.Cut(arg, " ")
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		c, err := lockprogram.Dial(ctx, "tcp", address)
		cancel()
		if err != nil {
			fmt.Println(err)
			continue
		}
		for word := range strings.SplitSeq(text, ";") {
			converse(c, word)
		}
	}
}

// converse sends a command, waits for a while as "wait", or reads what has come as "read".
func converse(c net.Conn, word string) {
	reply := make([]byte, 1000)
	switch word {
	case "wait":
		time.Sleep(time.Second)
		return
	case "read":
	case "close":
		fmt.Println("closed", c.Close())
		return
	default:
		words := strings.Fields(word)
		text := fmt.Sprintf("*%d\r\n", len(words))
		for _, w := range words {
			text += fmt.Sprintf("$%d\r\n%s\r\n", len(w), w)
		}
		if _, err := c.Write([]byte(text)); err != nil {
			fmt.Println(err)
			return
		}
	}
	c.SetReadDeadline(time.Now().Add(time.Second))
	n, err := c.Read(reply)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%q\n", reply[:n])
}
