package api

import (
	"bytes"
	"encoding/json"
)

// Protocol is the version of the protocol that this package describes. It has
// nothing to do with the version of the binary. Version 1 is always served.
const Protocol = 1

// Prefix begins the path of every call.
const Prefix = "/v1/"

// MaxRequest bounds a request's body, in bytes.
const MaxRequest = 64 << 20

// Headers of every call and answer.
const (
	// HeaderProtocol is the newest protocol version that the sender speaks.
	HeaderProtocol = "Umbra-Protocol"
	// HeaderVersion is the version of the sender's binary, for messages.
	HeaderVersion = "Umbra-Version"
	// HeaderTimeout is how many milliseconds the caller will wait, if not for ever.
	HeaderTimeout = "Umbra-Timeout-Ms"
	// HeaderNamespace is the caller's Namespace. A process that has another one
	// answers 421 and does nothing.
	HeaderNamespace = "Umbra-Namespace"
	// HeaderHome is the Place of the home that the caller means, missions.Place. A
	// process that serves another one answers 410 and does nothing: it was found by
	// a file that was copied or moved with a home.
	HeaderHome = "Umbra-Home"
)

// ContentType is that of an answer.
const ContentType = "application/x-ndjson"

// Calls that are not of the Service.
const (
	MethodAbout = "about" // answers an About
	MethodLeave = "leave" // asks the process to stop serving; answers an About
)

// About is what a serving process says of itself.
type About struct {
	Protocol  int    `json:"protocol"`
	Version   string `json:"version"`
	PID       int    `json:"pid"`
	Home      string `json:"home"`
	Namespace string `json:"namespace"`         // of mounts, users and processes, as the process sees them
	Leaving   bool   `json:"leaving,omitempty"` // it is about to stop
}

// Line is one line of an answer.
type Line struct {
	Notice json.RawMessage `json:"notice,omitempty"`
	Error  *Error          `json:"error,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
}

// resultPrefix begins a line that holds a result alone.
const resultPrefix = `{"result":`

// ResultLine is the line of a result alone, with its end of line: a long one is
// not gone through again. result is valid JSON without line ends.
func ResultLine(result json.RawMessage) []byte {
	return append(append([]byte(resultPrefix), result...), "}\n"...)
}

// CutResult gives the result of a line that ResultLine made; it may be more than
// that, and no valid JSON, where another made the line.
func CutResult(line []byte) (json.RawMessage, bool) {
	inner, ok := bytes.CutPrefix(bytes.TrimSuffix(line, []byte("\n")), []byte(resultPrefix))
	if !ok {
		return nil, false
	}
	return bytes.CutSuffix(inner, []byte("}"))
}

// Last reports whether the line ends its answer.
func (l Line) Last() bool { return l.Result != nil || l.Error != nil }

// Error is an error of the domain as it crosses the wire, unchanged.
type Error struct {
	Kind    string          `json:"kind"`
	Message string          `json:"message"`
	Hint    string          `json:"hint,omitempty"`
	Details json.RawMessage `json:"details,omitempty"`
}
