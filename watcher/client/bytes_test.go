package client

import (
	"encoding"
	"encoding/json"
	"reflect"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/watcher/api"
)

// TestNoByteOfAPathIsLost: whatever a call of the Service says in a string arrives as it
// was, though a path need not be UTF-8.
func TestNoByteOfAPathIsLost(t *testing.T) {
	t.Parallel()
	for _, m := range missions.Methods() {
		request, result := m.New()
		for _, was := range []any{request, result} {
			fill(reflect.ValueOf(was).Elem(), 0)
			text, err := api.Encode(was)
			if err != nil {
				t.Fatalf("%s: %v", m.Name, err)
			}
			is := reflect.New(reflect.TypeOf(was).Elem()).Interface()
			if err := api.Decode(text, is); err != nil {
				t.Fatalf("%s: %v", m.Name, err)
			}
			if !reflect.DeepEqual(is, was) {
				t.Errorf("%s: %s became %+v", m.Name, text, is)
			}
		}
	}
}

// fill gives each string below v, which has no form of its own in JSON, a byte that is no
// UTF-8.
func fill(v reflect.Value, depth int) {
	at := reflect.PointerTo(v.Type())
	if depth > 6 || at.Implements(reflect.TypeFor[json.Marshaler]()) || at.Implements(reflect.TypeFor[encoding.TextMarshaler]()) {
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("x\xff")
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), depth+1)
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), depth+1)
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key, depth+1)
		fill(value, depth+1)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && f.Tag.Get("json") != "-" {
				fill(v.Field(i), depth+1)
			}
		}
	}
}
