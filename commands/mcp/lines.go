package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// stream is what the agent and the server say to each other, a message a line. A line that
// is no message is answered with an error and otherwise ignored: the SDK would end the
// session, and the agent would be without tools.
type stream struct {
	in   *bufio.Reader
	rest []byte // of the line that is being read
	mu   sync.Mutex
	out  io.Writer
}

// newStream makes a stream whose input ends when in does, or with ctx: the SDK cancels the
// calls that run when its input ends, and waits for them at any other end.
func newStream(ctx context.Context, in io.Reader, out io.Writer) *stream {
	read, write := io.Pipe()
	go func() {
		_, err := io.Copy(write, in)
		write.CloseWithError(err)
	}()
	context.AfterFunc(ctx, func() { write.Close() })
	return &stream{in: bufio.NewReader(read), out: out}
}

const notUnderstood = `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"this line is no message of JSON-RPC"}}` + "\n"

func (s *stream) Read(p []byte) (int, error) {
	for len(s.rest) == 0 {
		line, err := s.in.ReadBytes('\n')
		switch text := bytes.TrimSpace(line); {
		case len(text) == 0:
		case isMessage(text):
			s.rest = line
		default:
			if _, werr := s.Write([]byte(notUnderstood)); err == nil {
				err = werr
			}
		}
		if err != nil && len(s.rest) == 0 {
			return 0, err
		}
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

func (s *stream) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.Write(p)
}

// Close leaves the streams open: they are the process's.
func (s *stream) Close() error { return nil }

// isMessage reports whether a line is a message, or several as protocol 2025-03-26 has
// them.
func isMessage(text []byte) bool {
	var batch []json.RawMessage
	if text[0] != '[' {
		batch = []json.RawMessage{text}
	} else if json.Unmarshal(text, &batch) != nil {
		return false
	}
	for _, m := range batch {
		if _, err := jsonrpc.DecodeMessage(m); err != nil {
			return false
		}
	}
	return len(batch) > 0
}
