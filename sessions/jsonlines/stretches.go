package jsonlines

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"
)

// rewriters is how many stretches of lines are rewritten at the same time, on
// machines that have the processors.
const rewriters = 2

// stretch is a run of whole lines on its way from the reader through a rewriter to
// the writer.
type stretch struct {
	in, out []byte
	done    chan struct{} // out is there
}

// A Rewriter appends what a line, given without its end, becomes to dst. Each
// worker has one of its own: it may hold buffers, but no state that a line leaves
// for the next.
type Rewriter func(dst, line []byte) []byte

// Rewrite copies each complete line of r to w, rewritten. Lines are rewritten
// independently of each other, so stretches of them are at the same time, each
// worker with a Rewriter that it got from begin; a few are in memory at once. A
// last line without an end is dropped.
func Rewrite(w io.Writer, r io.Reader, begin func() Rewriter) error {
	var all sync.WaitGroup
	defer all.Wait()
	stop := make(chan struct{})
	defer close(stop)
	free := make(chan *stretch, 2*rewriters)
	for range 2 * rewriters {
		free <- &stretch{done: make(chan struct{}, 1)}
	}
	work, order := make(chan *stretch, cap(free)), make(chan *stretch, cap(free))
	for range rewriters {
		all.Go(func() {
			rewrite := begin()
			for b := range work {
				b.out = rewrite.lines(b.out[:0], b.in)
				b.done <- struct{}{}
			}
		})
	}
	var readErr error
	all.Go(func() {
		defer close(work)
		defer close(order) // after which readErr may be read
		readErr = readStretches(r, free, stop, func(b *stretch) {
			order <- b // has room for all there are
			work <- b
		})
	})
	for b := range order {
		<-b.done
		if _, err := w.Write(b.out); err != nil {
			return fmt.Errorf("write session: %w", err)
		}
		free <- b
	}
	return readErr
}

// readStretches hands on the whole lines of r in free stretches, until its end or until
// it is stopped. A last line without an end is left out.
func readStretches(r io.Reader, free <-chan *stretch, stop <-chan struct{}, give func(*stretch)) error {
	var rest []byte
	for {
		var b *stretch
		select {
		case b = <-free:
		case <-stop:
			return nil
		}
		var err error
		b.in, err = readLines(r, append(b.in[:0], rest...))
		n := bytes.LastIndexByte(b.in, '\n') + 1
		rest = append(rest[:0], b.in[n:]...)
		b.in = b.in[:n]
		if n > 0 {
			give(b)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read session: %w", err)
		}
	}
}

// readLines appends about readSize bytes of r to buf, or as many more as a line
// takes that does not end there.
func readLines(r io.Reader, buf []byte) ([]byte, error) {
	for {
		begin := len(buf)
		if cap(buf)-begin < readSize {
			buf = append(make([]byte, 0, max(2*cap(buf), 2*readSize)), buf...)
		}
		n, err := io.ReadFull(r, buf[begin:begin+readSize])
		buf = buf[:begin+n]
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = io.EOF
		}
		if err != nil || bytes.IndexByte(buf[begin:], '\n') >= 0 {
			return buf, err
		}
	}
}

// lines appends the rewritten lines to dst.
func (rewrite Rewriter) lines(dst, b []byte) []byte {
	for len(b) > 0 {
		n := bytes.IndexByte(b, '\n')
		dst = append(rewrite(dst, b[:n]), '\n')
		b = b[n+1:]
	}
	return dst
}
