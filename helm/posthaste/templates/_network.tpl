{{/* The ports of a store or a collector: those that are given, else those of its address (hosts may be several), else the usual one. */}}
{{- define "posthaste.ports" -}}
{{- $authority := regexReplaceAll "^[a-z+]+://(?:[^@/]*@)?([^/?]*).*$" .address "${1}" -}}
{{- $ofAddress := list -}}
{{- range regexFindAll ":[0-9]+(,|$)" $authority -1 -}}
{{- $ofAddress = append $ofAddress (. | trimPrefix ":" | trimSuffix "," | int) -}}
{{- end -}}
{{- range coalesce .ports $ofAddress (list .usual) | uniq }}
- { protocol: TCP, port: {{ . }} }
{{- end }}
{{- end -}}

{{/*
Where deliveries go: public addresses, as libs/domain/src/destination/address.ts has them, and what allowPrivateCidrs
adds. The service itself refuses the rest as well; this holds where it should fail.
*/}}
{{- define "posthaste.outside" -}}
- to:
    - ipBlock:
        cidr: 0.0.0.0/0
        except:
          - 0.0.0.0/8
          - 10.0.0.0/8
          - 100.64.0.0/10
          - 127.0.0.0/8
          # A cloud's own server in a public range.
          - 168.63.129.16/32
          - 169.254.0.0/16
          - 172.16.0.0/12
          - 192.0.0.0/24
          - 192.0.2.0/24
          - 192.31.196.0/24
          - 192.52.193.0/24
          - 192.88.99.0/24
          - 192.168.0.0/16
          - 192.175.48.0/24
          - 198.18.0.0/15
          - 198.51.100.0/24
          - 203.0.113.0/24
          - 224.0.0.0/3
    - ipBlock:
        cidr: 2000::/3
        except:
          - 2001::/23
          - 2001:db8::/32
          - 2002::/16
          - 2620:4f:8000::/48
          - 3fff::/20
    {{- range .Values.allowPrivateCidrs }}
    - ipBlock: { cidr: {{ contains "/" . | ternary . (printf "%s/%d" . (contains ":" . | ternary 128 32)) | quote }} }
    {{- end }}
  ports: [{ protocol: TCP }]
{{- end -}}
