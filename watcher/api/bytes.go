package api

import (
	"bytes"
	"encoding"
	"encoding/json"
	"reflect"
	"strings"
	"unicode/utf8"
)

// JSON has no string for a path that is not UTF-8. Its bytes cross the wire as the last
// 256 private characters of Unicode, and so does what is one of those itself.
const firstByte = utf8.MaxRune - 0xff

var (
	lostByte  = []byte(`\ufffd`)   // what json.Marshal writes for a byte that is no UTF-8
	byteStart = []byte("\xf4\x8f") // every such character begins with it
)

// Encode is json.Marshal that loses no byte of a string. Types that marshal themselves
// look after their own.
func Encode(v any) ([]byte, error) {
	text, err := json.Marshal(v)
	if err != nil || !bytes.Contains(text, lostByte) && !bytes.Contains(text, byteStart) {
		return text, err
	}
	return json.Marshal(withStrings(reflect.ValueOf(v), escapeBytes).Interface())
}

// Decode is json.Unmarshal of what Encode made, into what v points to.
func Decode(text []byte, v any) error {
	if err := json.Unmarshal(text, v); err != nil {
		return err
	}
	RestoreBytes(text, v)
	return nil
}

// RestoreBytes gives the strings of v, which was unmarshalled from text, the bytes that
// Encode was given.
func RestoreBytes(text []byte, v any) {
	if bytes.Contains(text, byteStart) {
		at := reflect.ValueOf(v).Elem()
		at.Set(withStrings(at, unescapeBytes))
	}
}

func escapeBytes(s string) string {
	if utf8.ValidString(s) && !strings.Contains(s, string(byteStart)) {
		return s
	}
	var out strings.Builder
	for s != "" {
		r, size := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && size == 1 || r >= firstByte {
			for i := range size {
				out.WriteRune(firstByte + rune(s[i]))
			}
		} else {
			out.WriteString(s[:size])
		}
		s = s[size:]
	}
	return out.String()
}

func unescapeBytes(s string) string {
	var out strings.Builder
	for _, r := range s {
		if r >= firstByte {
			out.WriteByte(byte(r - firstByte))
		} else {
			out.WriteRune(r)
		}
	}
	return out.String()
}

var marshalers = []reflect.Type{reflect.TypeFor[json.Marshaler](), reflect.TypeFor[encoding.TextMarshaler]()}

// withStrings is v with every string in it changed. It shares nothing that it changes.
func withStrings(v reflect.Value, change func(string) string) reflect.Value {
	if !v.IsValid() {
		return v
	}
	for _, own := range marshalers {
		if v.Type().Implements(own) || reflect.PointerTo(v.Type()).Implements(own) {
			return v
		}
	}
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	switch v.Kind() {
	case reflect.String:
		out.SetString(change(v.String()))
	case reflect.Pointer:
		if !v.IsNil() {
			out.Set(reflect.New(v.Type().Elem()))
			out.Elem().Set(withStrings(v.Elem(), change))
		}
	case reflect.Interface:
		if !v.IsNil() {
			out.Set(withStrings(v.Elem(), change))
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 || v.IsNil() {
			break
		}
		out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		for i := range v.Len() {
			out.Index(i).Set(withStrings(v.Index(i), change))
		}
	case reflect.Array:
		for i := range v.Len() {
			out.Index(i).Set(withStrings(v.Index(i), change))
		}
	case reflect.Map:
		if v.IsNil() {
			break
		}
		out.Set(reflect.MakeMapWithSize(v.Type(), v.Len()))
		for key, value := range v.Seq2() {
			out.SetMapIndex(withStrings(key, change), withStrings(value, change))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				out.Field(i).Set(withStrings(v.Field(i), change))
			}
		}
	}
	return out
}
