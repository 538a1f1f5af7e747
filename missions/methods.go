package missions

import (
	"context"
	"reflect"
)

// A Method is one method of Service, as it looks to who passes calls on: both ends of the
// daemon's socket, and the Gate.
type Method struct {
	Name   string // on the wire
	Traits Traits
	// Unknown is what nobody knows when the answer to a call was cut off, "the fork was
	// made", and Look is what shows it; only of methods that are not repeated.
	Unknown, Look string
	// New makes a request and a result to be filled in. Both are pointers, here and in Call.
	New func() (request, result any)
	// Call makes the call of a Service.
	Call func(ctx context.Context, s Service, request, result any) error
}

// Traits are what a method does, as far as who passes calls on must know.
type Traits uint

// The traits of methods.
const (
	// Repeats: a call may be made again when its answer was cut off. It only reads, or
	// made twice it does what it does once. Events of hooks and requests for snapshots
	// have ids by which they are told.
	Repeats Traits = 1 << iota
	// Stores: it puts objects into the shadow repository, or looks for lost ones. No
	// housekeeping moves objects meanwhile.
	Stores
	// Changes: it changes the home, and is refused where nothing can be written.
	Changes

	// Reads: it changes nothing. Methods that read and write, such as doctor, do not
	// have it.
	Reads = 1<<3 | Repeats
	// Grows: it stores, and is refused while room on the disk is low.
	Grows = 1<<4 | Stores
)

// Is reports whether a method has all these traits.
func (m Method) Is(t Traits) bool { return m.Traits&t == t }

// Methods gives every method of Service, by its name on the wire.
func Methods() map[string]Method {
	all := map[string]Method{}
	relay := reflect.ValueOf(NewRelay(func(_ context.Context, m Method, _, _ any) error {
		all[m.Name] = m
		return nil
	}))
	for m := range reflect.TypeFor[Service]().Methods() {
		call := relay.MethodByName(m.Name)
		call.Call([]reflect.Value{reflect.ValueOf(context.Background()), reflect.Zero(call.Type().In(1))})
	}
	return all
}

// A row is a method of Service in the table that relay.go is.
type row[Request, Result any] struct{ Method }

func method[Request, Result any](name string, traits Traits, do func(Service, context.Context, Request) (Result, error)) row[Request, Result] {
	return row[Request, Result]{Method{
		Name: name, Traits: traits,
		New: func() (request, result any) { return new(Request), new(Result) },
		Call: func(ctx context.Context, s Service, request, result any) (err error) {
			*result.(*Result), err = do(s, ctx, *request.(*Request))
			return err
		},
	}}
}

// unsure says what is not known of a call whose answer was cut off, and what shows it.
func (m row[Request, Result]) unsure(unknown, look string) row[Request, Result] {
	m.Unknown, m.Look = unknown, look
	return m
}

// by makes the call by way of a relay.
func (m row[Request, Result]) by(ctx context.Context, relay func(context.Context, Method, any, any) error, request Request) (result Result, err error) {
	err = relay(ctx, m.Method, &request, &result)
	return result, err
}
