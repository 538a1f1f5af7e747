package restore

import (
	"encoding/json"
	"reflect"
	"testing"
)

// FuzzPlan: the plan that a journal holds is read as it was written.
func FuzzPlan(f *testing.F) {
	f.Add([]byte(`{"from":"1111111111111111111111111111111111111111","to":"2222222222222222222222222222222222222222","changes":[{"path":"a","from":{"mode":"100644","blob":"3333333333333333333333333333333333333333"}}],"keep":[{"path":"k","reason":"ignored"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var p, again Plan
		if json.Unmarshal(data, &p) != nil {
			return
		}
		text, err := json.Marshal(&p)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &again); err != nil || !reflect.DeepEqual(again, p) {
			t.Fatalf("%s becomes %s, %v", data, text, err)
		}
	})
}
