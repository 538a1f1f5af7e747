package sessions

import "testing"

func TestBriefRefusal(t *testing.T) {
	for in, want := range map[string]string{
		"":                             "",
		"API Error: 400 no such model": "API Error: 400 no such model",
		`API Error: 400 {"error":{"message":"no such model","type":"invalid_request_error"},"type":"error"}`: "API Error: 400 no such model",
		`{"error":{"message":"no such model","type":"invalid_request_error"}}`:                               "no such model",
		`[API Error: {"error":{"code":400,"message":"no such model","status":"INVALID_ARGUMENT"}}]`:          "API Error: no such model",
		`{"message":"slow down"} and more`:                                      "slow down",
		"unexpected status 401 Unauthorized: bad key, url: http://x/\nand more": "unexpected status 401 Unauthorized: bad key, url: http://x/",
		`status {not JSON}`:    `status {not JSON}`,
		`{"error":"text"}`:     `{"error":"text"}`,
		"\x1b[31mred\x1b[0m\a": "red",
	} {
		if got := BriefRefusal(in); got != want {
			t.Errorf("of %q is said %q, want %q", in, got, want)
		}
	}
}
