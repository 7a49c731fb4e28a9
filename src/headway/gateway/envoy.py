"""Routes as Envoy configuration: values in, plain dictionaries out.

Decides how traffic is split, retried, checked and logged. Pure: writes no file and speaks to no process.

Clusters are named `project/service/version`, so that statistics and the access log can be read back. A cluster's change
of endpoints replaces it in place; requests in flight finish where they began.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from headway.gateway.routes import Routes, ServiceRoute, Share, address

Config = dict[str, Any]

ROUTE_CONFIG = "ingress"
VERSION_HEADER = "x-headway-version"
ADMIN_SOCKET = "admin.sock"
TYPES = {
    "lds": "type.googleapis.com/envoy.config.listener.v3.Listener",
    "rds": "type.googleapis.com/envoy.config.route.v3.RouteConfiguration",
    "cds": "type.googleapis.com/envoy.config.cluster.v3.Cluster",
}
_EXTENSION = "type.googleapis.com/envoy.extensions"
IDLE_STREAM = "300s"
# uvicorn closes an idle connection after 5 s: the pool must let go of it first, or a request meets a closing one.
IDLE_CONNECTION = "3s"
CONNECT_TIMEOUT = "1s"
MAX_CONNECTIONS = 8192


def cluster_name(project: str, service: str, version: str) -> str:
    """The name of a version's cluster in configuration, statistics and log."""
    return f"{project}/{service}/{version}"


def bootstrap(admin_port: int | None) -> Config:
    """The static part: admin address (a private Unix socket unless a port is given) and where the rest is read from."""
    admin = (
        {"pipe": {"path": ADMIN_SOCKET, "mode": 0o600}}
        if admin_port is None
        else {"socket_address": {"address": "127.0.0.1", "port_value": admin_port}}
    )
    return {
        "node": {"id": "headway-gateway", "cluster": "headway"},
        "admin": {"address": admin},
        "dynamic_resources": {"lds_config": _source("lds"), "cds_config": _source("cds")},
        "stats_flush_interval": "1s",
        "overload_manager": {"resource_monitors": [_CONNECTION_LIMIT]},
    }


def discovery(kind: str, version: str, resources: Iterable[Config]) -> Config:
    """A file of one resource type as Envoy reads it; `version` comes back in its statistics once accepted."""
    return {"version_info": version, "resources": [{"@type": TYPES[kind], **each} for each in resources]}


def listener(host: str, port: int, access_log: str | None) -> Config:
    """The one ingress; `port` 0 lets the kernel choose."""
    connections: Config = {
        "@type": f"{_EXTENSION}.filters.network.http_connection_manager.v3.HttpConnectionManager",
        "stat_prefix": ROUTE_CONFIG,
        "server_name": "headway-gateway",
        "rds": {"route_config_name": ROUTE_CONFIG, "config_source": _source("rds")},
        "http_filters": [
            {
                "name": "router",
                "typed_config": {"@type": f"{_EXTENSION}.filters.http.router.v3.Router"},
            }
        ],
        "use_remote_address": True,
        # Nobody is internal: a client's own x-envoy-* headers must not set timeouts or retries.
        "internal_address_config": {"cidr_ranges": [{"address_prefix": "255.255.255.255", "prefix_len": 32}]},
        "normalize_path": True,
        "preserve_external_request_id": True,
        "always_set_request_id_in_response": True,
        "stream_idle_timeout": IDLE_STREAM,
        "request_headers_timeout": "10s",
        "access_log": [] if access_log is None else [_access_log(access_log)],
    }
    return {
        "name": ROUTE_CONFIG,
        "address": {"socket_address": {"address": host, "port_value": port}},
        # A second Envoy on the port must fail to bind, not share it silently.
        "enable_reuse_port": False,
        "filter_chains": [{"filters": [{"name": "http", "typed_config": connections}]}],
    }


def clusters(routes: Routes) -> dict[str, Config]:
    """One cluster per listed version, by name, whatever its weight."""
    return {
        cluster_name(service.project, service.name, share.version): _cluster(service, share)
        for service in routes.services
        for share in service.shares
    }


def route_table(routes: Routes) -> Config:
    """The ingress routes: longest prefix first, then a plain 404."""
    ordered = sorted(routes.services, key=lambda service: (-len(service.prefix), service.prefix))
    entries = [entry for service in ordered for entry in _service_entries(service)]
    return {
        "name": ROUTE_CONFIG,
        "virtual_hosts": [
            {"name": "all", "domains": ["*"], "routes": [*entries, _answer({"prefix": "/"}, 404, "no-such-service")]}
        ],
    }


def _service_entries(service: ServiceRoute) -> list[Config]:
    def named(version: str) -> Config:
        return {"name": VERSION_HEADER, "string_match": {"exact": version}}

    tests = [
        _entry(service, _matching(service, named(share.version)), [(share.version, 1)]) for share in service.shares
    ]
    unknown = _answer(_matching(service, {"name": VERSION_HEADER, "present_match": True}), 404, "no-such-version")
    live = [(share.version, share.weight) for share in service.shares if share.weight > 0]
    return [*tests, unknown, _entry(service, _matching(service), live)]


def _matching(service: ServiceRoute, *headers: Config) -> Config:
    return {"prefix": service.prefix, **({"headers": list(headers)} if headers else {})}


def _entry(service: ServiceRoute, match: Config, weights: Iterable[tuple[str, int]]) -> Config:
    return {
        "match": match,
        "route": {
            "weighted_clusters": {"clusters": [_weighted(service, version, weight) for version, weight in weights]},
            "prefix_rewrite": "/",
            "timeout": "0s",
            "idle_timeout": IDLE_STREAM,
            "retry_policy": _RETRIES,
        },
    }


def _weighted(service: ServiceRoute, version: str, weight: int) -> Config:
    return {
        "name": cluster_name(service.project, service.name, version),
        "weight": weight,
        "response_headers_to_add": [
            {
                "header": {"key": VERSION_HEADER, "value": version},
                "append_action": "OVERWRITE_IF_EXISTS_OR_ADD",
            }
        ],
    }


def _answer(match: Config, status: int, code: str) -> Config:
    body = f'{{"type": "about:blank", "title": "{code}", "status": {status}, "code": "{code}"}}\n'
    return {
        "match": match,
        "direct_response": {"status": status, "body": {"inline_string": body}},
        "response_headers_to_add": [
            {
                "header": {"key": "content-type", "value": "application/problem+json"},
                "append_action": "OVERWRITE_IF_EXISTS_OR_ADD",
            }
        ],
    }


# Only what the upstream has not begun to work on is tried again: a request that kills a model must not kill three.
_RETRIES: Mapping[str, Any] = {
    "retry_on": "connect-failure,refused-stream,reset-before-request",
    "num_retries": 2,
    "retry_host_predicate": [
        {
            "name": "previous_hosts",
            "typed_config": {"@type": f"{_EXTENSION}.retry.host.previous_hosts.v3.PreviousHostsPredicate"},
        }
    ],
    "host_selection_retry_max_attempts": 3,
}


def _cluster(service: ServiceRoute, share: Share) -> Config:
    name = cluster_name(service.project, service.name, share.version)
    return {
        "name": name,
        "type": "STATIC",
        "connect_timeout": CONNECT_TIMEOUT,
        "lb_policy": "LEAST_REQUEST",
        "load_assignment": {
            "cluster_name": name,
            "endpoints": [{"lb_endpoints": [_lb_endpoint(endpoint) for endpoint in share.endpoints]}],
        },
        "metadata": {
            "filter_metadata": {
                "headway": {"project": service.project, "service": service.name, "version": share.version}
            }
        },
        "typed_extension_protocol_options": _PROTOCOL,
        **_HEALTH,
    }


def _lb_endpoint(endpoint: str) -> Config:
    host, port = address(endpoint)
    return {"endpoint": {"address": {"socket_address": {"address": host, "port_value": port}}}}


_PROTOCOL: Mapping[str, Any] = {
    "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {
        "@type": f"{_EXTENSION}.upstreams.http.v3.HttpProtocolOptions",
        "common_http_protocol_options": {"idle_timeout": IDLE_CONNECTION},
        "explicit_http_config": {"http_protocol_options": {}},
    }
}

# A TCP check fits every runtime and finds dead processes; ejection finds those that accept and do not answer. The panic
# threshold of 1 %: dead endpoints are avoided while any lives, and all are tried when none does.
_HEALTH: Mapping[str, Any] = {
    "health_checks": [
        {
            "timeout": "1s",
            "interval": "1s",
            "no_traffic_interval": "1s",
            "unhealthy_threshold": 1,
            "healthy_threshold": 1,
            "tcp_health_check": {},
        }
    ],
    "outlier_detection": {
        "interval": "1s",
        "base_ejection_time": "5s",
        "consecutive_gateway_failure": 5,
        "enforcing_consecutive_gateway_failure": 100,
        "enforcing_consecutive_5xx": 0,
        "enforcing_success_rate": 0,
        "max_ejection_percent": 50,
    },
    "common_lb_config": {"healthy_panic_threshold": {"value": 1}},
    "circuit_breakers": {
        "thresholds": [
            {
                "max_connections": MAX_CONNECTIONS,
                "max_pending_requests": MAX_CONNECTIONS,
                "max_requests": MAX_CONNECTIONS,
                "max_retries": 1024,
            }
        ]
    },
}


_CONNECTION_LIMIT: Mapping[str, Any] = {
    "name": "envoy.resource_monitors.global_downstream_max_connections",
    "typed_config": {
        "@type": f"{_EXTENSION}.resource_monitors.downstream_connections.v3.DownstreamConnectionsConfig",
        "max_active_downstream_connections": MAX_CONNECTIONS,
    },
}


def _access_log(path: str) -> Config:
    return {
        "name": "file",
        "typed_config": {
            "@type": f"{_EXTENSION}.access_loggers.file.v3.FileAccessLog",
            "path": path,
            "log_format": {
                "json_format": {
                    "at": "%START_TIME%",
                    "project": "%METADATA(CLUSTER:headway:project)%",
                    "service": "%METADATA(CLUSTER:headway:service)%",
                    "version": "%METADATA(CLUSTER:headway:version)%",
                    "method": "%REQ(:METHOD)%",
                    "code": "%RESPONSE_CODE%",
                    "flags": "%RESPONSE_FLAGS%",
                    "duration_ms": "%DURATION%",
                    "bytes_sent": "%BYTES_SENT%",
                    "upstream": "%UPSTREAM_HOST%",
                    "request_id": "%REQ(X-REQUEST-ID)%",
                }
            },
        },
    }


def _source(kind: str) -> Config:
    # A folder per type: a move in a watched folder reloads every file watched there.
    return {
        "resource_api_version": "V3",
        "path_config_source": {"path": f"{kind}/{kind}.json", "watched_directory": {"path": kind}},
    }
