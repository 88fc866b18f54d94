import com.fasterxml.jackson.databind.ObjectMapper;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.io.File;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.Base64;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.ApiResponse;
import org.openapitools.client.api.DefaultApi;

/** Calls the code of openapi-generator with its library native by reflection. */
public class OpenApiGeneratorNative extends Generated {
  private final String baseUrl;
  private final JsonObject schemas;
  private final ObjectMapper mapper = ApiClient.createDefaultObjectMapper();

  public OpenApiGeneratorNative(String baseUrl, JsonObject document) {
    this.baseUrl = baseUrl;
    this.schemas = document.getAsJsonObject("components").getAsJsonObject("schemas");
  }

  @Override
  public JsonObject send(Main.Case given) throws Exception {
    ApiClient client = new ApiClient();
    client.setHttpClientBuilder(HttpClient.newBuilder().followRedirects(HttpClient.Redirect.NORMAL));
    client.updateBaseUri(baseUrl);
    client.setRequestInterceptor(request -> addCredentials(request, given));
    Method method = methodOf(DefaultApi.class, given.operationId() + "WithHttpInfo");
    Object[] inputs = inputsOf(method, given);
    try {
      ApiResponse<?> response = (ApiResponse<?>) method.invoke(new DefaultApi(client), inputs);
      return Main.line(response.getStatusCode(), response.getHeaders(), printable(response.getData()));
    } catch (InvocationTargetException thrown) {
      if (thrown.getCause() instanceof ApiException error && error.getCode() >= 300 && error.getResponseHeaders() != null)
        return Main.line(error.getCode(), error.getResponseHeaders().map(), Main.decoded(error.getResponseBody()));
      throw thrown;
    }
  }

  /** Adds the credentials that a header can carry: the generated code has none. */
  private static void addCredentials(HttpRequest.Builder request, Main.Case given) {
    if (given.credential("bearer") != null) request.header("Authorization", "Bearer " + given.credential("bearer"));
    if (given.credential("keyHeader") != null) request.header("X-Api-Key", given.credential("keyHeader"));
    if (given.credential("keyCookie") != null) request.header("Cookie", "api_key=" + given.credential("keyCookie"));
    if (given.credentials().has("basic")) {
      JsonObject basic = given.credentials().getAsJsonObject("basic");
      String pair = basic.get("username").getAsString() + ":" + basic.get("password").getAsString();
      byte[] bytes = pair.getBytes(StandardCharsets.UTF_8);
      request.header("Authorization", "Basic " + Base64.getEncoder().encodeToString(bytes));
    }
  }

  @Override
  Object valueOf(JsonElement value, Type type) throws Exception {
    Constructor<?> chosen =
        type instanceof Class<?> union && value instanceof JsonObject members ? constructorOf(union, members) : null;
    if (chosen != null) return chosen.newInstance(valueOf(value, chosen.getParameterTypes()[0]));
    return mapper.readValue(Main.gson.toJson(value), mapper.constructType(type));
  }

  /** Returns the constructor of a union with a discriminator for an object, or null. */
  private Constructor<?> constructorOf(Class<?> union, JsonObject members) {
    JsonElement schema = schemas.get(union.getSimpleName());
    if (schema == null || !schema.getAsJsonObject().has("discriminator")) return null;
    JsonObject discriminator = schema.getAsJsonObject().getAsJsonObject("discriminator");
    String kind = members.get(discriminator.get("propertyName").getAsString()).getAsString();
    String reference = discriminator.getAsJsonObject("mapping").get(kind).getAsString();
    for (Constructor<?> each : union.getConstructors())
      if (each.getParameterCount() == 1 && reference.endsWith("/" + each.getParameterTypes()[0].getSimpleName()))
        return each;
    return null;
  }

  private JsonElement printable(Object value) throws Exception {
    if (value == null) return null;
    if (value instanceof File file) return Main.bytes(Files.readAllBytes(file.toPath()));
    return Main.decoded(mapper.writeValueAsString(value));
  }
}
