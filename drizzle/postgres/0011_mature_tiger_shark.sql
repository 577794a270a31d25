ALTER TABLE "api_keys" ADD COLUMN "mac" text;--> statement-breakpoint
ALTER TABLE "policies" ADD COLUMN "mac" text;--> statement-breakpoint
ALTER TABLE "providers" ADD COLUMN "mac" text;--> statement-breakpoint
ALTER TABLE "workers" ADD COLUMN "mac" text;