//! HTTP routes from `google.api.http`: one generated line per binding, which calls the service in process.

use proc_macro2::TokenStream;
use prost_build::{Method, Service, ServiceGenerator};
use prost_reflect::{
    DescriptorPool, DynamicMessage, ExtensionDescriptor, FieldDescriptor, Kind, MessageDescriptor,
    MethodDescriptor,
};
use quote::{format_ident, quote};

use crate::template::{Template, Variable};
use crate::{Result, names, vendor};

/// tonic's generator with our routes behind each service.
pub struct WithRoutes {
    tonic: Box<dyn ServiceGenerator>,
    pool: DescriptorPool,
}

impl WithRoutes {
    pub fn new(tonic: Box<dyn ServiceGenerator>, pool: DescriptorPool) -> Self {
        Self { tonic, pool }
    }

    fn routes(&self, service: &Service) -> Result<Option<TokenStream>> {
        let full = format!("{}.{}", service.package, service.proto_name);
        let descriptor =
            self.pool.get_service_by_name(&full).ok_or_else(|| format!("{full}: not in the pool"))?;
        let http =
            self.pool.get_extension_by_name("google.api.http").ok_or("google.api.http is not in the pool")?;
        let mut all = Vec::new();
        for method in &service.methods {
            let found = descriptor.methods().find(|m| m.name() == method.proto_name);
            let found = found.ok_or_else(|| format!("{full}.{}: not in the pool", method.proto_name))?;
            for binding in bindings(&found, &http)? {
                all.push((binding.check(&found)?, method));
            }
        }
        let routes = match vendor::knows(&service.package) {
            true => vendor_routes(&full, &all)?,
            false => {
                all.iter().map(|(binding, method)| binding.route(&full, method)).collect::<Result<_>>()?
            }
        };
        (!routes.is_empty()).then(|| module(service, &routes)).transpose()
    }
}

/// Vendors have one path for an answer as a whole and for the same piece by piece: those two become one route.
fn vendor_routes(full: &str, all: &[(Binding, &Method)]) -> Result<Vec<TokenStream>> {
    let mut routes = Vec::new();
    for (binding, method) in all {
        let twin = all.iter().find(|(other, m)| {
            other.method == binding.method
                && other.template == binding.template
                && m.server_streaming != method.server_streaming
        });
        match twin {
            Some(_) if method.server_streaming => {}
            Some((_, stream)) => routes.push(binding.either(full, method, stream)?),
            None => routes.push(binding.vendor(full, method)?),
        }
    }
    Ok(routes)
}

impl ServiceGenerator for WithRoutes {
    fn generate(&mut self, service: Service, buf: &mut String) {
        let routes = self.routes(&service);
        self.tonic.generate(service, buf);
        // The trait cannot fail, so a wrong rule fails where its routes would have been.
        let code = routes.unwrap_or_else(|error| {
            let problem = format!("google.api.http: {error}");
            Some(quote!(compile_error!(#problem);))
        });
        buf.push_str(&code.unwrap_or_default().to_string());
    }

    fn finalize(&mut self, buf: &mut String) {
        self.tonic.finalize(buf);
    }

    fn finalize_package(&mut self, package: &str, buf: &mut String) {
        self.tonic.finalize_package(package, buf);
    }
}

fn module(service: &Service, routes: &[TokenStream]) -> Result<TokenStream> {
    let snake = names::module(&service.name);
    let (module, server, trait_) =
        (format_ident!("{snake}_http"), format_ident!("{snake}_server"), format_ident!("{}", service.name));
    let doc = format!(" The HTTP bindings of `{}`.", service.proto_name);
    Ok(quote! {
        #[doc = #doc]
        pub mod #module {
            use ::agena::transcode::{Body, Route, Rule};
            use super::#server::#trait_;

            /// One route per binding, in the order of the file.
            pub fn routes<S: #trait_>(service: &::std::sync::Arc<S>) -> ::std::vec::Vec<Route> {
                ::std::vec![#(#routes),*]
            }
        }
    })
}

/// One HTTP method and path of an RPC.
struct Binding {
    method: String,
    template: String,
    body: String,
    response_body: String,
    /// All variables are strings of the request itself, so that they can be assigned as they are.
    plain: bool,
}

fn bindings(method: &MethodDescriptor, http: &ExtensionDescriptor) -> Result<Vec<Binding>> {
    let options: DynamicMessage = method.options();
    if !options.has_extension(http) {
        return Ok(Vec::new());
    }
    let value = options.get_extension(http);
    let rule = value.as_message().ok_or("the rule is not a message")?;
    let more = rule.get_field_by_name("additional_bindings").ok_or("no additional_bindings")?;
    let more = more.as_list().into_iter().flatten().filter_map(|v| v.as_message());
    std::iter::once(rule).chain(more).map(Binding::read).collect()
}

impl Binding {
    fn read(rule: &DynamicMessage) -> Result<Self> {
        let text = |message: &DynamicMessage, name: &str| {
            message.get_field_by_name(name).and_then(|v| v.as_str().map(str::to_owned)).unwrap_or_default()
        };
        let named = ["get", "put", "post", "delete", "patch"].into_iter().find(|m| rule.has_field_by_name(m));
        let (method, template) = match named {
            Some(name) => (name.to_uppercase(), text(rule, name)),
            None => {
                let custom = rule.get_field_by_name("custom").ok_or("a rule has no method")?;
                let custom = custom.as_message().ok_or("custom is not a message")?;
                (text(custom, "kind"), text(custom, "path"))
            }
        };
        Ok(Self {
            method,
            template,
            body: text(rule, "body"),
            response_body: text(rule, "response_body"),
            plain: true,
        })
    }

    /// Finds at build time what would otherwise be a route that can never work.
    fn check(mut self, method: &MethodDescriptor) -> Result<Self> {
        let template = self.template.clone();
        let wrong = |what: String| format!("{} {template}: {what}", method.full_name());
        for variable in Template::parse(&self.template)?.variables {
            let field = leaf(&method.input(), &variable).map_err(wrong)?;
            let top = variable.field.len() == 1 && !field.supports_presence();
            self.plain &= top && field.kind() == Kind::String;
        }
        if !matches!(self.body.as_str(), "" | "*") && method.input().get_field_by_name(&self.body).is_none() {
            return Err(wrong(format!("body {:?} is no field", self.body)).into());
        }
        if self.method == "*" {
            return Err(wrong("custom.kind \"*\" would take every method; name one".to_owned()).into());
        }
        if !self.response_body.is_empty() && method.is_server_streaming() {
            return Err(wrong("response_body has no meaning for a stream; leave it out".to_owned()).into());
        }
        if !self.response_body.is_empty() && method.output().get_field_by_name(&self.response_body).is_none()
        {
            return Err(wrong(format!("response_body {:?} is no field", self.response_body)).into());
        }
        if method.is_client_streaming() {
            return Err(wrong("a client stream has no HTTP form".to_owned()).into());
        }
        Ok(self)
    }

    fn route(&self, service: &str, method: &Method) -> Result<TokenStream> {
        let kind = if method.server_streaming { quote!(streaming) } else { quote!(unary) };
        let (rule, name) = (self.rule(service, method), format_ident!("{}", method.name));
        let read = self.read_message(method)?;
        Ok(
            quote!(Route::#kind(#rule, service, #read, |service, request| async move { service.#name(request).await })),
        )
    }

    fn vendor(&self, service: &str, method: &Method) -> Result<TokenStream> {
        let kind = if method.server_streaming { quote!(vendor_streaming) } else { quote!(vendor_unary) };
        let (rule, name) = (self.rule(service, method), format_ident!("{}", method.name));
        let read = self.read_vendor(method)?;
        Ok(
            quote!(Route::#kind(#rule, service, #read, |service, request| async move { service.#name(request).await })),
        )
    }

    /// `stream` in the request says which of the two it is.
    fn either(&self, service: &str, unary: &Method, stream: &Method) -> Result<TokenStream> {
        let (rule, read) = (self.rule(service, unary), self.read_vendor(unary)?);
        let (one, many) = (format_ident!("{}", unary.name), format_ident!("{}", stream.name));
        Ok(quote!(Route::vendor_either(
            #rule,
            service,
            #read,
            |message| message.stream == Some(true),
            |service, request| async move { service.#one(request).await },
            |service, request| async move { service.#many(request).await },
        )))
    }

    fn rule(&self, service: &str, method: &Method) -> TokenStream {
        let rpc = format!("{service}/{}", method.proto_name);
        let (http, template) = (&self.method, &self.template);
        let body = match self.body.as_str() {
            "" => quote!(Body::None),
            "*" => quote!(Body::All),
            field => quote!(Body::Field(#field)),
        };
        let response_body = match self.response_body.as_str() {
            "" => quote!(None),
            field => quote!(Some(#field)),
        };
        quote! {
            &Rule { rpc: #rpc, method: #http, template: #template, body: #body, response_body: #response_body }
        }
    }

    /// A whole body with plain string variables is read straight into the message; the rest takes the general way.
    fn read_message(&self, method: &Method) -> Result<TokenStream> {
        let (ty, variables) = (input(method)?, Template::parse(&self.template)?.variables);
        if self.body != "*" || !self.plain {
            return Ok(quote!(|call| call.assemble::<#ty>()));
        }
        if variables.is_empty() {
            return Ok(quote!(|call| call.body::<#ty>()));
        }
        let sets = variables.iter().enumerate().map(assign).collect::<Result<Vec<_>>>()?;
        Ok(quote!(|call| { let mut message: #ty = call.body()?; #(#sets)* Ok(message) }))
    }

    fn read_vendor(&self, method: &Method) -> Result<TokenStream> {
        let (ty, variables) = (input(method)?, Template::parse(&self.template)?.variables);
        if self.body != "*" || variables.is_empty() {
            return Ok(quote!(|call| call.vendor::<#ty>()));
        }
        if !self.plain {
            return Err(format!("{}: beside a body, variables must be plain", self.template).into());
        }
        let sets = variables.iter().enumerate().map(assign).collect::<Result<Vec<_>>>()?;
        Ok(quote!(|call| { let mut message: #ty = call.vendor()?; #(#sets)* Ok(message) }))
    }
}

fn input(method: &Method) -> Result<TokenStream> {
    match method.input_type.strip_prefix("::") {
        Some(_) => names::path(&method.input_type),
        None => names::path(&format!("super::{}", method.input_type)),
    }
}

fn assign((at, variable): (usize, &Variable)) -> Result<TokenStream> {
    let field = names::field(&variable.field[0])?;
    Ok(quote!(message.#field = call.variable(#at)?;))
}

/// A variable must name a field that holds one plain value.
fn leaf(input: &MessageDescriptor, variable: &Variable) -> std::result::Result<FieldDescriptor, String> {
    let (last, holders) = variable.field.split_last().ok_or("a variable has no name")?;
    let mut message = input.clone();
    for step in holders {
        let field = message.get_field_by_name(step).ok_or_else(|| format!("{step:?} is no field"))?;
        message = field.kind().as_message().cloned().ok_or_else(|| format!("{step:?} is no message"))?;
    }
    let field = message.get_field_by_name(last).ok_or_else(|| format!("{last:?} is no field"))?;
    if field.is_list() || field.is_map() || matches!(field.kind(), Kind::Message(_)) {
        return Err(format!("{last:?} does not hold one plain value"));
    }
    Ok(field)
}
